/**
 * The configs of the released checkpoints, for loads without a folder. Text model only; what the
 * parser does not read is left out.
 */

const denseLayers = 3;
const layers = 60;
const fromThirdLayerOn = Array.from({ length: layers }, (_, i) => (i < denseLayers ? 0 : 1));

const textConfig = {
  architectures: ['MiniMaxM3SparseForCausalLM'],
  hidden_size: 6144,
  num_hidden_layers: layers,
  num_attention_heads: 64,
  num_key_value_heads: 4,
  head_dim: 128,
  vocab_size: 200_064,
  max_position_embeddings: 1_048_576,
  rope_theta: 5_000_000,
  rotary_dim: 64,
  partial_rotary_factor: 0.5,
  rms_norm_eps: 1e-6,
  use_gemma_norm: true,
  use_qk_norm: true,
  qk_norm_type: 'per_head',
  attention_output_gate: false,
  hidden_act: 'swigluoai',
  swiglu_alpha: 1.702,
  swiglu_limit: 7,
  dense_intermediate_size: 12_288,
  intermediate_size: 3072,
  shared_intermediate_size: 3072,
  num_local_experts: 128,
  num_experts_per_tok: 4,
  n_shared_experts: 1,
  scoring_func: 'sigmoid',
  use_routing_bias: true,
  routed_scaling_factor: 2,
  moe_layer_freq: fromThirdLayerOn,
  tie_word_embeddings: false,
  sparse_attention_config: {
    use_sparse_attention: true,
    sparse_attention_freq: fromThirdLayerOn,
    sparse_num_index_heads: 4,
    sparse_index_dim: 128,
    sparse_block_size: 128,
    sparse_topk_blocks: 16,
    sparse_init_block: 0,
    sparse_local_block: 1,
    sparse_score_type: 'max',
    sparse_disable_index_value: fromThirdLayerOn,
  },
};

const bfloat16 = {
  architectures: ['MiniMaxM3SparseForConditionalGeneration'],
  model_type: 'minimax_m3_vl',
  torch_dtype: 'bfloat16',
  text_config: textConfig,
};

const mxfp8 = {
  ...bfloat16,
  quantization_config: {
    quant_method: 'mxfp8',
    activation_scheme: 'dynamic',
    weight_block_size: [1, 32],
  },
};

const configs: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'MiniMax-M3': mxfp8,
  'MiniMax-M3-BF16': bfloat16,
};

/** Names that a dummy load takes in place of a folder; the first is the release in MXFP8. */
export const builtInModels: readonly string[] = Object.keys(configs);

/**
 * The `config.json` of a built-in name, with or without `MiniMaxAI/`; undefined for other names.
 */
export function builtInConfig(name: string): Readonly<Record<string, unknown>> | undefined {
  const key = name.replace(/^MiniMaxAI\//, '');
  return Object.hasOwn(configs, key) ? configs[key] : undefined;
}
