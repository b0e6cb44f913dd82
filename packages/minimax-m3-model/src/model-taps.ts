/** A view into a forward pass for tests and measurements. */

import type { Stream, Tensor } from '@altstream/cuda-runtime';

/**
 * Called while the pass is enqueued. A tensor is written when the stream gets there, and its memory
 * is reused later in the pass: copy it on the given stream to keep it.
 */
export interface ModelTaps {
  /**
   * The residual stream [tokens, hidden] that attention or the MLP of a layer reads through its
   * norm.
   */
  residual?(layer: number, before: 'attention' | 'mlp', residual: Tensor, stream: Stream): void;
  /** Chosen blocks [groups, tokens, topkBlocks] i32 of a sparse layer. */
  blocks?(layer: number, blocks: Tensor, stream: Stream): void;
  /** Chosen experts [tokens, slots] i32 and their weights f32, best first. */
  router?(layer: number, ids: Tensor, weights: Tensor, stream: Stream): void;
  /** What the MLP of a layer will add to the residual stream, [tokens, hidden]. */
  output?(layer: number, output: Tensor, stream: Stream): void;
  /** The wanted rows after the last norm, [rows, hidden]. */
  finalNorm?(normed: Tensor, stream: Stream): void;
}
