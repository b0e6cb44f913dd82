/**
 * The configs of the test models, as `config.json` has them (model specification, 10.2 and 10.3).
 */

/** A parsed `config.json`. */
export type ConfigJson = Record<string, unknown>;

/** Names of the built-in models. */
export type HashModelName = 'T32' | 'T128';

/** The whole `config.json` of a built-in model, bf16. */
export function hashConfig(model: HashModelName): ConfigJson {
  const size = model === 'T32' ? T32 : T128;
  return {
    architectures: ['MiniMaxM3SparseForConditionalGeneration'],
    model_type: 'minimax_m3_vl',
    image_token_index: size.imageToken,
    video_token_index: size.imageToken + 1,
    image_seq_length: 4,
    projector_hidden_size: size.text['hidden_size'],
    projector_hidden_act: 'gelu',
    multimodal_projector_bias: true,
    tie_word_embeddings: false,
    vision_feature_layer: -1,
    vision_feature_select_strategy: 'full',
    process_image_mode: 'dynamic_res',
    num_reward_heads: 0,
    img_token_compression_config: tokenCompression,
    torch_dtype: 'bfloat16',
    text_config: { ...sharedText, ...size.text, sparse_attention_config: size.sparse },
    vision_config: vision,
  };
}

const tokenCompression = {
  image_token_compression_method: 'patch_merge',
  spatial_merge_size: 2,
  temporal_patch_size: 2,
};

const vision = {
  model_type: 'clip_vision_model',
  hidden_size: 64,
  num_attention_heads: 4,
  num_hidden_layers: 2,
  intermediate_size: 128,
  patch_size: 14,
  image_size: 56,
  projection_dim: 64,
  position_embedding_type: 'rope',
  rope_mode: '3d',
  rope_theta: 10000,
  hidden_act: 'gelu',
  layer_norm_eps: 1e-5,
  num_channels: 3,
  vision_segment_max_frames: 4,
  attention_dropout: 0,
  img_token_compression_config: tokenCompression,
};

const sharedText = {
  architectures: ['MiniMaxM3SparseForCausalLM'],
  use_gemma_norm: true,
  attention_output_gate: false,
  hidden_act: 'swigluoai',
  use_qk_norm: true,
  qk_norm_type: 'per_head',
  tie_word_embeddings: false,
  n_shared_experts: 1,
  scoring_func: 'sigmoid',
  use_routing_bias: true,
  num_mtp_modules: 1,
  partial_rotary_factor: 0.5,
  rope_theta: 5000000,
  rms_norm_eps: 1e-6,
  swiglu_alpha: 1.702,
  swiglu_limit: 7,
  routed_scaling_factor: 2,
  bos_token_id: 0,
  eos_token_id: 1,
  pad_token_id: 2,
};

const sharedSparse = {
  use_sparse_attention: true,
  sparse_num_index_heads: 2,
  sparse_topk_blocks: 4,
  sparse_score_type: 'max',
  sparse_init_block: 0,
  sparse_local_block: 1,
};

const T32 = {
  imageToken: 200,
  text: {
    hidden_size: 64,
    intermediate_size: 32,
    dense_intermediate_size: 128,
    shared_intermediate_size: 32,
    num_hidden_layers: 4,
    num_attention_heads: 8,
    num_key_value_heads: 2,
    head_dim: 32,
    rotary_dim: 16,
    max_position_embeddings: 512,
    vocab_size: 256,
    num_local_experts: 8,
    num_experts_per_tok: 2,
    moe_layer_freq: [0, 1, 1, 1],
  } as ConfigJson,
  sparse: {
    ...sharedSparse,
    sparse_index_dim: 32,
    sparse_block_size: 8,
    sparse_disable_index_value: [0, 0, 1, 1],
    sparse_attention_freq: [0, 0, 1, 1],
  },
};

const T128 = {
  imageToken: 510,
  text: {
    hidden_size: 256,
    intermediate_size: 128,
    dense_intermediate_size: 512,
    shared_intermediate_size: 128,
    num_hidden_layers: 3,
    num_attention_heads: 32,
    num_key_value_heads: 2,
    head_dim: 128,
    rotary_dim: 64,
    max_position_embeddings: 4096,
    vocab_size: 512,
    num_local_experts: 16,
    num_experts_per_tok: 4,
    moe_layer_freq: [0, 1, 1],
  } as ConfigJson,
  sparse: {
    ...sharedSparse,
    sparse_index_dim: 128,
    sparse_block_size: 128,
    sparse_disable_index_value: [0, 1, 1],
    sparse_attention_freq: [0, 1, 1],
  },
};
