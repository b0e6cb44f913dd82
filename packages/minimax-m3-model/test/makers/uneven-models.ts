/** Small models whose heads, widths and vocabularies hardly any number of ranks divides. */

import type { ConfigJson } from '@altstream/hash-checkpoint';

/** A model, how it is stored and over how many ranks it is tried. */
export interface UnevenModel {
  readonly name: string;
  readonly model: ConfigJson;
  readonly mxfp8: boolean;
  readonly sizes: readonly number[];
  /** Numbers of ranks that also run the shared expert as a slot of the routed ones. */
  readonly fusedSizes?: readonly number[];
}

const base = {
  hidden_size: 36,
  vocab_size: 71,
  num_hidden_layers: 2,
  num_attention_heads: 15,
  num_key_value_heads: 3,
  head_dim: 20,
  rotary_dim: 8,
  partial_rotary_factor: 0.4,
  rope_theta: 1e4,
  max_position_embeddings: 256,
  rms_norm_eps: 1e-6,
  use_gemma_norm: true,
  hidden_act: 'swigluoai',
  dense_intermediate_size: 28,
  intermediate_size: 12,
  shared_intermediate_size: 20,
  n_shared_experts: 1,
  num_local_experts: 5,
  num_experts_per_tok: 2,
  scoring_func: 'sigmoid',
  use_routing_bias: true,
  routed_scaling_factor: 2,
  tie_word_embeddings: false,
  moe_layer_freq: [0, 1],
};

const sparse = {
  use_sparse_attention: true,
  sparse_attention_freq: [0, 1],
  sparse_disable_index_value: [0, 1],
  sparse_num_index_heads: 3,
  sparse_index_dim: 12,
  sparse_block_size: 4,
  sparse_topk_blocks: 2,
  sparse_local_block: 1,
  sparse_init_block: 0,
  sparse_score_type: 'max',
};

function config(changes: object, kvHeads: number, indexDim: number): ConfigJson {
  const ofHeads = { sparse_num_index_heads: kvHeads, sparse_index_dim: indexDim };
  const sparseConfig = { ...sparse, ...ofHeads };
  const heads = { num_key_value_heads: kvHeads, sparse_attention_config: sparseConfig };
  return { model_type: 'minimax_m3_vl', text_config: { ...base, ...changes, ...heads } };
}

const small = [1, 2, 3, 4, 5, 6, 7, 8];

/**
 * bf16 and MXFP8; tied and not; shared expert of the routed width and not; more ranks than
 * anything.
 */
export const unevenModels: readonly UnevenModel[] = [
  { name: 'bf16', model: config({}, 3, 12), mxfp8: false, sizes: [...small, 17] },
  {
    name: 'mxfp8, tied',
    model: config(
      {
        hidden_size: 64,
        vocab_size: 83,
        num_attention_heads: 6,
        head_dim: 32,
        rotary_dim: 16,
        partial_rotary_factor: 0.5,
        dense_intermediate_size: 96,
        intermediate_size: 64,
        shared_intermediate_size: 32,
        tie_word_embeddings: true,
      },
      2,
      24,
    ),
    mxfp8: true,
    sizes: small,
  },
  {
    name: 'mxfp8, heads of half a block, equal widths',
    model: config(
      {
        hidden_size: 32,
        num_attention_heads: 14,
        head_dim: 16,
        partial_rotary_factor: 0.5,
        dense_intermediate_size: 160,
        intermediate_size: 96,
        shared_intermediate_size: 96,
      },
      2,
      16,
    ),
    mxfp8: true,
    sizes: [2, 3, 5, 7],
    fusedSizes: [2, 3, 5],
  },
  {
    name: 'bf16, less of everything than ranks',
    model: config(
      {
        hidden_size: 8,
        vocab_size: 11,
        num_attention_heads: 4,
        head_dim: 8,
        rotary_dim: 4,
        partial_rotary_factor: 0.5,
        dense_intermediate_size: 6,
        intermediate_size: 5,
        shared_intermediate_size: 7,
        num_local_experts: 3,
        tie_word_embeddings: true,
      },
      1,
      8,
    ),
    mxfp8: false,
    sizes: [2, 3, 5, 7, 13],
  },
];
