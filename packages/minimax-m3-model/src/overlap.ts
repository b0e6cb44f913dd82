/** When and how two branches of a layer run side by side: the one place that knows. */

import { type Device, type Runtime, type Stream, withAlt } from '@altstream/cuda-runtime';
import type { ModelStep } from './model-step.js';

/**
 * `capture`: while the current stream is being captured, so that replays overlap and eager passes
 * stay simple. `always` and `off` are for measurement.
 */
export type OverlapMode = 'capture' | 'always' | 'off';

/**
 * The stream of the routed experts, which take longer than the shared one: it goes first where both
 * want the same processors, also in captured graphs. A stream that is there already keeps its
 * priority.
 */
export function alternateStream({ streams }: Runtime, device: Device): Stream {
  if (streams.has('alt', device)) return streams.get('alt', { device });
  return streams.get('alt', { device, priority: device.priorityRange.greatest });
}

/** Two pieces of work that do not depend on each other. */
export interface Branches<A, B> {
  /** Enqueues on the step's own stream. */
  current(step: ModelStep): A;
  /** Enqueues on the alternate stream. */
  alternate(step: ModelStep): B;
}

/** Runs branches on the current and on the alternate stream. */
export class Overlap {
  readonly mode: OverlapMode;
  readonly #alternate: Stream | undefined;
  /** Who last joined the alternate stream during a capture, and where that stood then. */
  #joined: { readonly by: Stream; readonly place: CapturePlace | undefined } | undefined;

  /** @param alternate made once by the model; without it nothing ever overlaps */
  constructor(mode: OverlapMode, alternate: Stream | undefined) {
    this.mode = mode;
    this.#alternate = alternate;
  }

  /** Name of the alternate stream; undefined when nothing ever overlaps. */
  get alternateName(): string | undefined {
    return this.#alternate?.name;
  }

  /** Whether the branches of this step run side by side. */
  applies(step: ModelStep): boolean {
    if (!this.#alternate || this.#alternate === step.stream || step.tokens === 0) return false;
    if (this.mode !== 'capture') return this.mode === 'always';
    return step.stream.captureStatus === 'active';
  }

  /**
   * Side by side: the alternate stream waits for the current one, both work, the current one waits
   * for the alternate one, also when a branch throws; the first error is thrown. Otherwise one
   * after the other on the current stream.
   */
  run<A, B>(step: ModelStep, branches: Branches<A, B>): [A, B] {
    if (!this.#alternate || !this.applies(step)) return this.runSerially(step, branches);
    const alternate = step.beside(this.#alternate);
    this.#forget(step.stream, alternate.stream);
    const results: { current?: A; alternate?: B } = {};
    withAlt(
      step.stream,
      alternate.stream,
      () => {
        results.alternate = branches.alternate(alternate);
      },
      () => {
        results.current = branches.current(step);
      },
    );
    this.#joined = { by: step.stream, place: placeOf(alternate.stream) };
    return [results.current as A, results.alternate as B];
  }

  /**
   * A captured stream keeps depending on its own last node, which the join of the layer before put
   * in front of the current stream already: one edge more at every fork, and half a microsecond.
   * What anybody else enqueued on it since then stays.
   */
  #forget(current: Stream, alternate: Stream): void {
    const [from, place] = [placeOf(current), placeOf(alternate)];
    const { by, place: joined } = this.#joined ?? {};
    if (by !== current || !from || !place || !joined) return;
    if (place.capture !== joined.capture || `${place.nodes}` !== `${joined.nodes}`) return;
    if (from.capture === place.capture) alternate.setCaptureDependencies(from.nodes, 'replace');
  }

  /** One after the other on the current stream, with the bits of `run`. */
  runSerially<A, B>(step: ModelStep, branches: Branches<A, B>): [A, B] {
    const first = branches.current(step);
    return [first, branches.alternate(step)];
  }
}

/** What the next node of a captured stream depends on. */
interface CapturePlace {
  readonly capture: bigint;
  readonly nodes: readonly number[];
}

function placeOf({ captureId, captureDependencies }: Stream): CapturePlace | undefined {
  if (captureId === undefined || !captureDependencies) return undefined;
  return { capture: captureId, nodes: captureDependencies };
}
