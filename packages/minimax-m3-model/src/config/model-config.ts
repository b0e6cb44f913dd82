/** What the model is made of, derived once from `config.json`: nothing else reads that file. */

/** Kind of one decoder layer. */
export interface LayerKind {
  /** `sparse`: each KV group attends to its own choice of blocks. */
  readonly attention: 'full' | 'sparse';
  /** `moe`: routed experts with a shared expert beside them. */
  readonly mlp: 'dense' | 'moe';
}

/** Clamped SwiGLU: min(g, limit) · sigmoid(alpha · g) · (clamp(u, ±limit) + beta). */
export interface SwigluConfig {
  readonly alpha: number;
  readonly beta: number;
  readonly limit: number;
}

/** Block choice of the sparse layers. */
export interface SparseAttentionConfig {
  /** Choices per token, one for each KV head. */
  readonly indexHeads: number;
  readonly indexDim: number;
  /** Keys in a block; also the page size of the KV cache. */
  readonly blockTokens: number;
  /** Blocks kept per query, the forced ones included. */
  readonly topkBlocks: number;
  /** Forced leading blocks. */
  readonly initBlocks: number;
  /** Forced trailing blocks, the query's own included. */
  readonly localBlocks: number;
}

/** Experts of the MoE layers. */
export interface MoeConfig {
  readonly experts: number;
  readonly expertsPerToken: number;
  /** Width of a routed expert. */
  readonly intermediate: number;
  /** Width of the shared expert. */
  readonly sharedIntermediate: number;
  /** From `n_shared_experts`; `unstated` leaves the answer to the tensors of the checkpoint. */
  readonly sharedExpert: 'present' | 'absent' | 'unstated';
  /** Multiplied into the renormalised router weights. */
  readonly routedScale: number;
  /** True when a bias takes part in the choice of experts. */
  readonly hasRoutingBias: boolean;
}

/** The geometry of a MiniMax-M3 text model. Counts are of the whole model, before sharding. */
export interface ModelConfig {
  readonly modelType: string;
  readonly hidden: number;
  readonly vocabSize: number;
  readonly maxPositions: number;
  readonly rmsNormEps: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Leading dims of a head that are rotated, in half-split pairs. */
  readonly rotaryDim: number;
  readonly ropeTheta: number;
  /** Width of the MLP of dense layers. */
  readonly denseIntermediate: number;
  readonly swiglu: SwigluConfig;
  /** Undefined when no layer is MoE. */
  readonly moe: MoeConfig | undefined;
  /** Undefined when no layer is sparse. */
  readonly sparse: SparseAttentionConfig | undefined;
  /** The head uses the embedding's weights. */
  readonly tiedEmbeddings: boolean;
  readonly layers: readonly LayerKind[];
  /**
   * From `quantization_config`; the storage of each tensor of a checkpoint is seen from the tensor.
   */
  readonly quantization: 'mxfp8' | undefined;
}
