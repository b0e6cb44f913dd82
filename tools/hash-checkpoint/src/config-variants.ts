/** Derived `config.json` files: quantised, and in the flat spelling of transformers 5. */

import type { ConfigJson } from './hash-config.js';

/** The text part of a config: nested, or the config itself. */
export function textConfig(config: ConfigJson): ConfigJson {
  const text = config['text_config'];
  return typeof text === 'object' && text !== null ? (text as ConfigJson) : config;
}

/** Layer flags of either spelling: 1 where the layer is MoE, or sparse. */
export function layerFlags(config: ConfigJson, kind: 'moe' | 'sparse'): number[] {
  const text = textConfig(config);
  const sparse = (text['sparse_attention_config'] ?? {}) as ConfigJson;
  const named = kind === 'moe' ? text['mlp_layer_types'] : text['layer_types'];
  const frequencies = kind === 'moe' ? text['moe_layer_freq'] : sparse['sparse_attention_freq'];
  if (Array.isArray(named)) {
    const marker = kind === 'moe' ? 'sparse' : 'minimax_m3_sparse';
    return named.map((name) => (name === marker ? 1 : 0));
  }
  const isOff = kind === 'sparse' && sparse['use_sparse_attention'] === false;
  if (Array.isArray(frequencies) && !isOff) return frequencies.map(Number);
  return Array.from({ length: Number(text['num_hidden_layers']) }, () => 0);
}

/** Adds what the quantised release has: `quantization_config`, and `dtype` in the text config. */
export function quantizedConfig(config: ConfigJson): ConfigJson {
  const ignored = ['lm_head', 'model.embed_tokens', 'vision_tower'];
  ignored.push('multi_modal_projector', 'patch_merge_mlp');
  for (const [layer, isMoe] of layerFlags(config, 'moe').entries()) {
    if (isMoe) ignored.push(`language_model.model.layers.${layer}.block_sparse_moe.gate`);
  }
  const quantization = {
    quant_method: 'mxfp8',
    activation_scheme: 'dynamic',
    weight_block_size: [1, 32],
    ignored_layers: ignored,
  };
  const text = { ...textConfig(config), dtype: 'bfloat16' };
  return 'text_config' in config
    ? { ...config, text_config: text, quantization_config: quantization }
    : { ...text, quantization_config: quantization };
}

/**
 * Rewrites the text config in the flat names of transformers 5, as third-party exports have it. One
 * that is flat already stays as it is.
 *
 * @throws Error for forced leading blocks, which have no flat name
 */
export function flatConfig(config: ConfigJson): ConfigJson {
  const {
    sparse_attention_config: sparseJson,
    moe_layer_freq: _moe,
    rope_theta: theta,
    rotary_dim: rotary,
    partial_rotary_factor: factor = typeof rotary === 'number'
      ? rotary / Number(textConfig(config)['head_dim'])
      : undefined,
    n_shared_experts: _shared,
    ...rest
  } = textConfig(config);
  const sparse = (sparseJson ?? {}) as ConfigJson;
  if (sparse['sparse_init_block']) {
    throw new Error(
      'config.json: `sparse_init_block` is not 0, which the flat spelling cannot say',
    );
  }
  const flat: ConfigJson = {
    index_n_heads: sparse['sparse_num_index_heads'],
    index_head_dim: sparse['sparse_index_dim'],
    index_block_size: sparse['sparse_block_size'],
    index_topk_blocks: sparse['sparse_topk_blocks'],
    index_local_blocks: sparse['sparse_local_block'],
    rope_parameters: { rope_type: 'default', rope_theta: theta, partial_rotary_factor: factor },
    ...rest,
    hidden_act: 'silu',
    layer_types: layerFlags(config, 'sparse').map((f) =>
      f ? 'minimax_m3_sparse' : 'full_attention',
    ),
    mlp_layer_types: layerFlags(config, 'moe').map((f) => (f ? 'sparse' : 'dense')),
  };
  return 'text_config' in config ? { ...config, text_config: flat } : flat;
}
