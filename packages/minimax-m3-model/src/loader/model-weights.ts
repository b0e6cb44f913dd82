/** The weights of one rank on the device, in the layout that the layers use. */

import type { Tensor } from '@altstream/cuda-runtime';
import type { HeadParts, Range, TensorParallel } from './shard.js';

/**
 * A matrix [out, in], or one for each expert [experts, out, in], row-major.
 *
 * `data` is bf16 or f32; or e4m3 with `scales` e8m0 [..., out, in / 32] (MXFP8).
 */
export interface Matrix {
  readonly data: Tensor;
  readonly scales: Tensor | undefined;
}

/** An MLP: gate rows first, then up rows; and the way back. */
export interface MlpWeights {
  /** [2 · intermediate, hidden] */
  readonly gateUp: Matrix;
  /** [hidden, intermediate] */
  readonly down: Matrix;
  /**
   * The hidden units of the whole MLP that these are; `intermediate` above is their number, maybe
   * 0.
   */
  readonly columns: Range;
}

/** Attention of one layer. Rows of `qkv`: q, k, v, and on sparse layers index q, index k. */
export interface AttentionWeights {
  readonly qkv: Matrix;
  /** [hidden, heads · headDim] */
  readonly output: Matrix;
  /** [headDim] f32, as all norms: applied as 1 + w. */
  readonly qNorm: Tensor;
  readonly kNorm: Tensor;
  /** [indexDim] f32, on sparse layers. */
  readonly indexQNorm: Tensor | undefined;
  readonly indexKNorm: Tensor | undefined;
}

/** Router and experts of a MoE layer. */
export interface MoeWeights {
  /** [experts, hidden] f32 */
  readonly router: Tensor;
  /** [experts] f32 */
  readonly routerBias: Tensor | undefined;
  /** [experts, 2 · intermediate, hidden] and [experts, hidden, intermediate] */
  readonly experts: MlpWeights;
  /** The shared expert; views of the last slot of `fused` when that exists. */
  readonly shared: MlpWeights | undefined;
  /**
   * `experts` with the shared expert as one more expert behind them; undefined when it does not
   * fit.
   */
  readonly fused: MlpWeights | undefined;
}

/** One decoder layer. Exactly one of `mlp` and `moe` is there. */
export interface LayerWeights {
  /** [hidden] f32 */
  readonly inputNorm: Tensor;
  readonly postAttentionNorm: Tensor;
  readonly attention: AttentionWeights;
  readonly mlp: MlpWeights | undefined;
  readonly moe: MoeWeights | undefined;
}

/** All weights of one rank. */
export interface ModelWeights {
  readonly tensorParallel: TensorParallel;
  /** The heads of every layer. */
  readonly heads: HeadParts;
  /** Rows `embeddingRows` of the table, [rows, hidden]. */
  readonly embedding: Tensor;
  readonly embeddingRows: Range;
  readonly layers: readonly LayerWeights[];
  readonly finalNorm: Tensor;
  /** Rows `vocab` of the head; a view of the embedding when tied. */
  readonly lmHead: Matrix;
  /** The tokens whose logits this rank computes. */
  readonly vocab: Range;
  /** Frees every weight. */
  dispose(): void;
}

/** Bytes of one layer on the device. */
export function bytesOfLayer({ attention, mlp, moe, ...norms }: LayerWeights): number {
  const ofMlp = (part: MlpWeights | undefined) => part && [part.gateUp, part.down];
  const matrices = [attention.qkv, attention.output, ofMlp(mlp), ofMlp(moe?.fused ?? moe?.experts)];
  // Fused experts hold the shared one.
  const shared = moe?.fused ? undefined : ofMlp(moe?.shared);
  const tensors = [...matrices, shared].flat().flatMap((one) => [one?.data, one?.scales]);
  const small = [norms.inputNorm, norms.postAttentionNorm, moe?.router, moe?.routerBias];
  return [...tensors, ...small].reduce((sum, tensor) => sum + (tensor?.bytes ?? 0), 0);
}
