import type { Device, Runtime, Stream, Tensor, Workspace } from '@altstream/cuda-runtime';

/**
 * What one forward pass reads; every tensor is on the device, so that a captured pass replays with
 * new contents. Prefill chunks, decode rows and padding rows are all just tokens.
 */
export interface ModelBatch {
  /** i32 [tokens] */
  readonly tokenIds: Tensor;
  /** i32 [tokens], absolute in the sequence; −1 = padding row */
  readonly positions: Tensor;
  /** i32 [tokens], row of `pageTable` */
  readonly sequenceIds: Tensor;
  /**
   * i32 [tokens], page · pageTokens + offset where this token's keys and values go; −1 = nowhere
   */
  readonly slots: Tensor;
  /** i32 [sequences, maxPages], page of each block of a sequence; −1 = none */
  readonly pageTable: Tensor;
  /** i32 [rows], tokens whose logits are wanted; −1 = padding row */
  readonly rows: Tensor;
}

/** Where a forward pass runs and takes its activations from. */
export interface StepContext {
  readonly stream: Stream;
  readonly workspace: Workspace;
}

/** A model's keys and values for a number of pages. */
export interface ModelCache {
  readonly pages: number;
  /** Enqueues a copy of all that a page holds, over all layers, to another page; never captured. */
  copyPage(from: number, to: number, stream: Stream): void;
  dispose(): void;
}

/** What the engine's books need of a model. */
export interface ModelFacts {
  /** Absent for a model that runs on no device. */
  readonly runtime?: Pick<Runtime, 'backend'>;
  readonly vocabSize: number;
  /** Longest sequence, in tokens. */
  readonly maxPositions: number;
  /** Tokens of a page. */
  readonly pageTokens: number;
  /** Bytes of a page over all layers. */
  readonly pageBytes: number;
  /** Bytes that the weights of one layer take, the largest; for messages about memory. */
  readonly layerBytes?: number;
  /** What was chosen when the model was made. */
  describe(): Record<string, unknown>;
}

/**
 * What the engine needs of a model that runs on a device; it knows models by this interface only.
 */
export interface CausalModel extends ModelFacts {
  readonly runtime: Runtime;
  readonly device: Device;
  createCache(pages: number): ModelCache;
  /**
   * Enqueues one pass and returns at once; may be captured.
   *
   * @returns logits f32 [rows, vocabSize], in the step's workspace
   */
  forward(batch: ModelBatch, cache: ModelCache, step: StepContext): Tensor;
}
