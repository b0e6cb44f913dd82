/** Which layers are sparse and which are MoE, in either spelling. */

import { agreed, type ConfigFields, required } from './config-fields.js';
import type { LayerKind } from './model-config.js';

/** Far above any real model; keeps a damaged config from asking for endless lists. */
const maxLayers = 4096;

/** The kind of every layer, first to last. */
export function parseLayerKinds(text: ConfigFields): LayerKind[] {
  const layers = text.integer('num_hidden_layers');
  if (layers > maxLayers) throw text.outOfRange('num_hidden_layers', `at most ${maxLayers}`);
  const attention = attentionKinds(text, layers);
  const mlp = required(
    agreed({
      [text.where('moe_layer_freq')]: flags(text, 'moe_layer_freq', layers)?.map(mlpKind),
      [text.where('mlp_layer_types')]: text.optionalPerLayer(
        'mlp_layer_types',
        layers,
        '"dense" or "sparse"',
        (entry) => (entry === 'dense' ? 'dense' : entry === 'sparse' ? 'moe' : undefined),
      ),
    }),
    ['moe_layer_freq', 'mlp_layer_types'],
  );
  return Array.from({ length: layers }, (_, layer) => ({
    attention: attention[layer] ?? 'full',
    mlp: mlp[layer] ?? 'dense',
  }));
}

/** Without any field about sparse attention every layer is full. */
function attentionKinds(text: ConfigFields, layers: number): LayerKind['attention'][] {
  const sparse = text.object('sparse_attention_config');
  const isOff = sparse?.optionalBoolean('use_sparse_attention') === false;
  const nested = sparse && !isOff ? flags(sparse, 'sparse_attention_freq', layers) : undefined;
  const kinds = agreed({
    'sparse_attention_config.sparse_attention_freq': isOff
      ? new Array<LayerKind['attention']>(layers).fill('full')
      : nested?.map(attentionKind),
    [text.where('layer_types')]: text.optionalPerLayer<LayerKind['attention']>(
      'layer_types',
      layers,
      '"full_attention" or "minimax_m3_sparse"',
      (entry) =>
        entry === 'full_attention' ? 'full' : entry === 'minimax_m3_sparse' ? 'sparse' : undefined,
    ),
  });
  if (kinds) return kinds;
  if (!sparse) return new Array<LayerKind['attention']>(layers).fill('full');
  return required<LayerKind['attention'][]>(undefined, ['sparse_attention_freq', 'layer_types']);
}

function flags(fields: ConfigFields, name: string, layers: number): boolean[] | undefined {
  return fields.optionalPerLayer(name, layers, '0 or 1', (entry) =>
    entry === 0 ? false : entry === 1 ? true : undefined,
  );
}

function mlpKind(isMoe: boolean): LayerKind['mlp'] {
  return isMoe ? 'moe' : 'dense';
}

function attentionKind(isSparse: boolean): LayerKind['attention'] {
  return isSparse ? 'sparse' : 'full';
}
