import type { Scene } from '../scene.js';

/** Plays all cases of a row; the scene knows which. */
export type Program = (scene: Scene) => void | Promise<void>;

/** Programs by the id of their row. */
export type Programs = Readonly<Record<string, Program>>;
