/** Which tensors a MiniMax-M3 text checkpoint has, with the scale of their hash values. */

import { layerFlags, textConfig } from './config-variants.js';
import type { ConfigJson } from './hash-config.js';

/** One weight before storage. */
export interface TensorEntry {
  /** Full checkpoint name. */
  readonly name: string;
  readonly shape: readonly number[];
  /** Storage when nothing is quantised. */
  readonly dtype: 'BF16' | 'F32';
  /** True for the matrices that the MXFP8 release quantises. */
  readonly quantizable: boolean;
  /** Width of the interval of its hash values. */
  readonly scale: number;
}

/** All text tensors of a config, layer by layer. */
export function listTensors(config: ConfigJson): TensorEntry[] {
  const size = sizes(config);
  const isMoe = layerFlags(config, 'moe');
  const isSparse = layerFlags(config, 'sparse');
  const root = 'language_model.';
  const tensors = [
    { ...plain(`${root}model.embed_tokens.weight`, [size.vocab, size.hidden]), scale: 4 },
    vector(`${root}model.norm.weight`, size.hidden),
  ];
  if (!size.tied) tensors.push(plain(`${root}lm_head.weight`, [size.vocab, size.hidden]));
  for (let layer = 0; layer < size.layers; layer++) {
    const prefix = `${root}model.layers.${layer}.`;
    tensors.push(...attentionTensors(prefix, size, Boolean(isSparse[layer])));
    tensors.push(
      ...(isMoe[layer]
        ? moeTensors(`${prefix}block_sparse_moe.`, size)
        : mlpTensors(`${prefix}mlp.`, size.hidden, size.dense)),
    );
  }
  return tensors;
}

type Sizes = ReturnType<typeof sizes>;

function sizes(config: ConfigJson) {
  const text = textConfig(config);
  const isMoe = layerFlags(config, 'moe').includes(1);
  const sparse = (text['sparse_attention_config'] ?? {}) as ConfigJson;
  const number = (name: string, fallback?: unknown): number => {
    const value = text[name] ?? fallback;
    if (typeof value !== 'number') throw new Error(`config.json: \`${name}\` is missing`);
    return value;
  };
  return {
    hidden: number('hidden_size'),
    vocab: number('vocab_size'),
    layers: number('num_hidden_layers'),
    heads: number('num_attention_heads'),
    kvHeads: number('num_key_value_heads'),
    headDim: number('head_dim'),
    dense: number('dense_intermediate_size', text['intermediate_size']),
    routed: number('intermediate_size', isMoe ? undefined : 0),
    shared: number(
      'shared_intermediate_size',
      text['intermediate_size'] ?? (isMoe ? undefined : 0),
    ),
    hasRoutingBias: text['use_routing_bias'] !== false,
    hasShared: text['n_shared_experts'] !== 0,
    experts: number('num_local_experts', 0),
    indexHeads: number('index_n_heads', sparse['sparse_num_index_heads'] ?? 0),
    indexDim: number('index_head_dim', sparse['sparse_index_dim'] ?? 0),
    tied: (text['tie_word_embeddings'] ?? config['tie_word_embeddings']) === true,
  };
}

function attentionTensors(layer: string, size: Sizes, isSparse: boolean): TensorEntry[] {
  const { hidden, heads, kvHeads, headDim, indexHeads, indexDim } = size;
  const attention = `${layer}self_attn.`;
  const tensors = [
    vector(`${layer}input_layernorm.weight`, hidden),
    vector(`${layer}post_attention_layernorm.weight`, hidden),
    matrix(`${attention}q_proj.weight`, heads * headDim, hidden),
    matrix(`${attention}k_proj.weight`, kvHeads * headDim, hidden),
    matrix(`${attention}v_proj.weight`, kvHeads * headDim, hidden),
    matrix(`${attention}o_proj.weight`, hidden, heads * headDim),
    vector(`${attention}q_norm.weight`, headDim),
    vector(`${attention}k_norm.weight`, headDim),
  ];
  if (isSparse) {
    tensors.push(
      matrix(`${attention}index_q_proj.weight`, indexHeads * indexDim, hidden),
      matrix(`${attention}index_k_proj.weight`, indexDim, hidden),
      vector(`${attention}index_q_norm.weight`, indexDim),
      vector(`${attention}index_k_norm.weight`, indexDim),
    );
  }
  return tensors;
}

function moeTensors(moe: string, size: Sizes): TensorEntry[] {
  const { hidden, routed, experts } = size;
  const tensors: TensorEntry[] = [
    { ...plain(`${moe}gate.weight`, [experts, hidden]), dtype: 'F32', scale: base(hidden) * 2 },
  ];
  if (size.hasRoutingBias) {
    tensors.push({ ...vector(`${moe}e_score_correction_bias`, experts), dtype: 'F32' });
  }
  for (let expert = 0; expert < experts; expert++) {
    const prefix = `${moe}experts.${expert}.`;
    tensors.push(
      matrix(`${prefix}w1.weight`, routed, hidden, 4),
      matrix(`${prefix}w2.weight`, hidden, routed),
      matrix(`${prefix}w3.weight`, routed, hidden, 4),
    );
  }
  if (size.hasShared) tensors.push(...mlpTensors(`${moe}shared_experts.`, hidden, size.shared));
  return tensors;
}

function mlpTensors(prefix: string, hidden: number, intermediate: number): TensorEntry[] {
  return [
    matrix(`${prefix}gate_proj.weight`, intermediate, hidden, 4),
    matrix(`${prefix}up_proj.weight`, intermediate, hidden, 4),
    matrix(`${prefix}down_proj.weight`, hidden, intermediate),
  ];
}

function matrix(name: string, rows: number, columns: number, gain = 1): TensorEntry {
  const scale = base(columns) * gain;
  return { name, shape: [rows, columns], dtype: 'BF16', quantizable: true, scale };
}

function plain(name: string, shape: readonly [number, number]): TensorEntry {
  return { name, shape, dtype: 'BF16', quantizable: false, scale: base(shape[1]) };
}

function vector(name: string, length: number): TensorEntry {
  return { name, shape: [length], dtype: 'BF16', quantizable: false, scale: 0.5 };
}

/** A power of two near 4 / sqrt(columns), which keeps activations of order one. */
function base(columns: number): number {
  return 2 ** (2 - Math.ceil(Math.log2(columns) / 2));
}
