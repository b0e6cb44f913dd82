/** The trained demo model and what transformers computed from it (`tools/demo-model/collect`). */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Another folder that `collect` filled, in place of the package in this repository. */
const named = process.env['ALTSTREAM_DEMO_MODEL'];
const neighbour = fileURLToPath(new URL('../../../minimax-m3-tiny', import.meta.url));

/** Folder of the checkpoint. */
export const demoFolder = named ?? neighbour;

/**
 * A bundle for a GPU host comes without the package: 18 MB more. In the repository the package is
 * always there.
 */
export const demoIsLeftOut = named === undefined && !existsSync(join(neighbour, 'package.json'));

/** For the title of what is left out. */
export const leftOutBecause = demoIsLeftOut
  ? ' (minimax-m3-tiny is not in this bundle; ALTSTREAM_DEMO_MODEL names one)'
  : '';

/** The first step of every test of the demo model, so that missing weights are told as such. */
export function requireDemoWeights(): void {
  const index = 'model.safetensors.index.json';
  if (existsSync(join(demoFolder, index))) return;
  const remedy = 'restore the folder with git, or make them with tools/demo-model';
  throw new Error(`the demo model in ${demoFolder} has no weights: ${index} is missing; ${remedy}`);
}

/** Logits of one prompt. */
export interface DemoLogits {
  readonly prompt: string;
  readonly ids: readonly number[];
  /** Position of the first entry of `bestIds` and `bestLogits`; 0 when absent. */
  readonly first?: number;
  readonly bestIds: readonly (readonly number[])[];
  readonly bestLogits: readonly (readonly number[])[];
  /** `sampled[position]`: logits of the ids 0, `stride`, 2 · `stride`, … */
  readonly stride: number;
  readonly sampled: Readonly<Record<string, readonly number[]>>;
  readonly sumOfMagnitudes: number;
}

/** The parts of the golden file that these tests read. */
export interface DemoGoldens {
  readonly logits: readonly DemoLogits[];
  readonly perplexity: {
    readonly rows: readonly { readonly ids: number[]; readonly counts: number[] }[];
    readonly mxfp8: number;
    readonly trained: number;
  };
}

/** Reads the golden file of the demo model. */
export function readDemoGoldens(): DemoGoldens {
  return JSON.parse(readFileSync(join(demoFolder, 'goldens', 'goldens.json'), 'utf8'));
}
