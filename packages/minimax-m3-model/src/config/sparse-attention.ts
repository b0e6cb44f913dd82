/** Geometry of the sparse layers, nested in `sparse_attention_config` or flat. */

import { agreed, type ConfigFields, required } from './config-fields.js';
import { kernelLimits } from './kernel-limits.js';
import type { SparseAttentionConfig } from './model-config.js';

/** Nested and flat name of each number. */
const spellings = {
  indexHeads: ['sparse_num_index_heads', 'index_n_heads'],
  indexDim: ['sparse_index_dim', 'index_head_dim'],
  blockTokens: ['sparse_block_size', 'index_block_size'],
  topkBlocks: ['sparse_topk_blocks', 'index_topk_blocks'],
} as const;

/** Parses what the block choice needs; called only when a layer is sparse. */
export function parseSparseAttention(
  text: ConfigFields,
  model: { readonly kvHeads: number; readonly rotaryDim: number },
): SparseAttentionConfig {
  const nested = text.object('sparse_attention_config');
  nested?.expectOneOf('sparse_score_type', ['max'], 'a block scores as its best key');
  refuseIndexValues(text, nested);
  const localBlocks = agreed({
    'sparse_attention_config.sparse_local_block': nested?.optionalInteger('sparse_local_block'),
    [text.where('index_local_blocks')]: text.optionalInteger('index_local_blocks'),
  });
  const sparse = {
    indexHeads: either(text, nested, spellings.indexHeads),
    indexDim: either(text, nested, spellings.indexDim, kernelLimits.headDim),
    blockTokens: either(text, nested, spellings.blockTokens),
    topkBlocks: either(text, nested, spellings.topkBlocks, kernelLimits.topkBlocks),
    initBlocks: nested?.optionalInteger('sparse_init_block', 0) ?? 0,
    localBlocks: localBlocks ?? 1,
  };
  checkAgainstModel(text, sparse, model);
  return sparse;
}

function either(
  text: ConfigFields,
  nested: ConfigFields | undefined,
  [nestedName, flatName]: readonly [string, string],
  maximum?: number,
): number {
  const value = agreed({
    [`sparse_attention_config.${nestedName}`]: nested?.optionalInteger(nestedName, 1, maximum),
    [text.where(flatName)]: text.optionalInteger(flatName, 1, maximum),
  });
  return required(value, [nestedName, flatName]);
}

function checkAgainstModel(
  text: ConfigFields,
  sparse: SparseAttentionConfig,
  model: { readonly kvHeads: number; readonly rotaryDim: number },
): void {
  if (sparse.indexHeads !== model.kvHeads) {
    const expected = `\`num_key_value_heads\` (${model.kvHeads}): every KV group has its own choice`;
    throw text.outOfRange('sparse_num_index_heads', expected, `${sparse.indexHeads}`);
  }
  if (sparse.indexDim < model.rotaryDim) {
    const expected = `at least the rotary width (${model.rotaryDim}), which index heads share`;
    throw text.outOfRange('sparse_index_dim', expected, `${sparse.indexDim}`);
  }
  const forced = sparse.initBlocks + sparse.localBlocks;
  if (forced > sparse.topkBlocks) {
    const expected = `at least the ${forced} forced blocks, which count among them`;
    throw text.outOfRange('sparse_topk_blocks', expected, `${sparse.topkBlocks}`);
  }
}

/** An index value path would add an output that no released checkpoint has weights for. */
function refuseIndexValues(text: ConfigFields, nested: ConfigFields | undefined): void {
  if (!nested) return;
  const layers = text.integer('num_hidden_layers');
  const isSparse = nested.optionalPerLayer('sparse_attention_freq', layers, '0 or 1', Number);
  const isDisabled = nested.optionalPerLayer(
    'sparse_disable_index_value',
    layers,
    '0 or 1',
    Number,
  );
  for (const [layer, disabled] of (isDisabled ?? []).entries()) {
    if (isSparse?.[layer] === 1 && disabled !== 1) {
      const expected = '1: the indexer of a sparse layer has no value path here';
      throw nested.outOfRange(`sparse_disable_index_value[${layer}]`, expected, `${disabled}`);
    }
  }
}
