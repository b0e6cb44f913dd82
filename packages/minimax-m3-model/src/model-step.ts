/** What the layers of one forward pass share. */

import type { Stream, Tensor, Workspace } from '@altstream/cuda-runtime';
import type { PdlChooser } from '@altstream/moe-kernels';
import type { KvCache } from './kv-cache.js';
import type { ModelTaps } from './model-taps.js';

/**
 * Tokens of a pass; every tensor is on the device, so a captured pass replays with new contents.
 */
export interface ModelBatch {
  /** i32 [tokens] */
  readonly tokenIds: Tensor;
  /** i32 [tokens], absolute in the sequence; -1 = padding row */
  readonly positions: Tensor;
  /** i32 [tokens], row of `pageTable` */
  readonly sequenceIds: Tensor;
  /**
   * i32 [tokens], page · pageTokens + offset where this token's keys and values go; -1 = nowhere
   */
  readonly slots: Tensor;
  /** i32 [sequences, maxPages], page of each block of a sequence; -1 = none */
  readonly pageTable: Tensor;
  /** i32 [rows], tokens whose logits are wanted; -1 = padding row */
  readonly rows: Tensor;
}

/** Where a forward pass runs and takes its activations from. */
export interface StepContext {
  readonly stream: Stream;
  readonly workspace: Workspace;
  /** Shown what the layers decide; for tests and measurements. Default: none, at no cost. */
  readonly taps?: ModelTaps;
  /** Decides which launches are programmatic. Default: none is. */
  readonly pdl?: PdlChooser;
}

/** One forward pass on one stream. A branch on another stream has a step of its own. */
export class ModelStep {
  readonly batch: ModelBatch;
  readonly cache: KvCache;
  readonly stream: Stream;
  /** Makes outputs and scratch of the operations on `stream`. */
  readonly workspace: Workspace;
  readonly taps: ModelTaps | undefined;
  readonly pdl: PdlChooser | undefined;
  /** Whether operations launch their kernels programmatically. */
  readonly programmatic: boolean;

  constructor(batch: ModelBatch, cache: KvCache, context: StepContext) {
    const { stream, pdl } = context;
    this.batch = batch;
    this.cache = cache;
    this.stream = stream;
    this.workspace = context.workspace;
    this.taps = context.taps;
    this.pdl = pdl;
    const launch = { tokens: this.tokens, device: stream.device.limits, waits: true };
    this.programmatic = pdl?.(launch).enabled ?? false;
  }

  /** Tokens of the pass, padding rows included. */
  get tokens(): number {
    return this.batch.tokenIds.shape[0] ?? 0;
  }

  /** Stream, allocator and kind of launch as the operations take them. */
  get on(): {
    readonly stream: Stream;
    readonly allocator: Workspace;
    readonly programmatic: boolean;
  } {
    return { stream: this.stream, allocator: this.workspace, programmatic: this.programmatic };
  }

  /**
   * The same pass on a stream that runs beside this one. Its tensors come from a lane of their own,
   * so the two never share memory.
   */
  beside(stream: Stream): ModelStep {
    const { batch, cache, taps, pdl } = this;
    const workspace = this.workspace.lane(besideLane);
    const context = { stream, workspace, ...(taps && { taps }), ...(pdl && { pdl }) };
    return new ModelStep(batch, cache, context);
  }

  /**
   * Gives back what `body` takes from the workspace, also of a stream beside this one: what comes
   * later may overwrite it, because it runs later. Make results that must stay before the call.
   */
  scratch<T>(body: () => T): T {
    const lane = this.workspace.lane(besideLane);
    const mark = this.workspace.mark();
    const laneMark = lane.mark();
    try {
      return body();
    } finally {
      this.workspace.release(mark);
      lane.release(laneMark);
    }
  }
}

const besideLane = 'alt';
