/** Small configs of many shapes, reproducible by seed. */

import type { ConfigJson } from '@altstream/hash-checkpoint';

/** A config and how it is stored. */
export interface RandomModel {
  readonly config: ConfigJson;
  readonly mxfp8: boolean;
  readonly flatConfig: boolean;
  readonly shards: number;
}

/** A model whose sizes are all different and mostly odd. */
export function randomModel(seed: number): RandomModel {
  const random = generator(seed);
  const pick = <T>(...choices: readonly T[]): T => choices[random(choices.length)] as T;
  const mxfp8 = pick(true, false);
  const unit = mxfp8 ? 32 : pick(4, 12, 20);
  const kvHeads = pick(1, 2, 3);
  const headDim = mxfp8 ? pick(32, 64) : pick(12, 20, 24, 32);
  const rotaryDim = 2 * Math.round(pick(0.25, 0.5, 1) * headDim * 0.5);
  const layers = 2 + random(4);
  const flags = () => Array.from({ length: layers }, () => random(2));
  const sparse = flags();
  const experts = 3 + random(14);
  const text = {
    hidden_size: (mxfp8 ? 32 : pick(20, 36)) * pick(1, 2, 3),
    vocab_size: 70 + random(80),
    num_hidden_layers: layers,
    num_attention_heads: kvHeads * pick(1, 2, 3, 5),
    num_key_value_heads: kvHeads,
    head_dim: headDim,
    rotary_dim: rotaryDim,
    partial_rotary_factor: rotaryDim / headDim,
    rope_theta: pick(1e4, 5e6),
    max_position_embeddings: 256,
    rms_norm_eps: pick(1e-6, 1e-5),
    use_gemma_norm: true,
    hidden_act: pick('swigluoai', 'silu'),
    swiglu_alpha: pick(1.702, 1),
    swiglu_limit: pick(7, 2.5),
    dense_intermediate_size: unit * pick(1, 3),
    intermediate_size: unit * pick(1, 2),
    shared_intermediate_size: unit * pick(1, 2, 3),
    n_shared_experts: pick(1, 1, 1, 0),
    num_local_experts: experts,
    num_experts_per_tok: 1 + random(Math.min(experts, 6)),
    scoring_func: 'sigmoid',
    use_routing_bias: pick(true, true, false),
    routed_scaling_factor: pick(1, 2, 2.5),
    tie_word_embeddings: pick(true, false),
    moe_layer_freq: flags(),
    sparse_attention_config: {
      use_sparse_attention: true,
      sparse_attention_freq: sparse,
      sparse_disable_index_value: sparse,
      sparse_num_index_heads: kvHeads,
      sparse_index_dim: rotaryDim + pick(4, 8, 12),
      sparse_block_size: pick(3, 4, 5, 8),
      sparse_topk_blocks: pick(2, 3, 5),
      sparse_local_block: pick(1, 1, 2),
      sparse_init_block: 0,
      sparse_score_type: 'max',
    },
  };
  return {
    config: { model_type: 'minimax_m3_vl', text_config: text },
    mxfp8,
    flatConfig: pick(true, false),
    shards: pick(1, 2, 5),
  };
}

/** Whole numbers from 0 to n - 1. */
function generator(seed: number): (n: number) => number {
  let state = seed * 2654435761 + 12345;
  return (n) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
    state = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    state ^= state >>> 15;
    return (state >>> 0) % n;
  };
}
