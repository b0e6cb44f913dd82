import { flatConfig, hashConfig, quantizedConfig } from '@altstream/hash-checkpoint';
import { describe, expect, it } from 'vitest';
import { parseModelConfig, readModelConfig } from './config.js';
import { ModelConfigError, ModelError } from './errors/index.js';

type Json = Record<string, unknown>;

/** T32 with fields of the text config (or of its sparse part) replaced; undefined removes. */
function changed(text: Json, sparse: Json = {}, top: Json = {}): Json {
  const base = hashConfig('T32');
  const nested = base['text_config'] as Json;
  const sparseBase = nested['sparse_attention_config'] as Json;
  const sparsePart = { ...sparseBase, ...sparse };
  const merged = { ...nested, sparse_attention_config: sparsePart, ...text };
  return JSON.parse(JSON.stringify({ ...base, text_config: merged, ...top }));
}

function failure(json: unknown): ModelConfigError {
  try {
    parseModelConfig(json);
  } catch (error) {
    if (error instanceof ModelConfigError) return error;
    throw error;
  }
  throw new Error('the config was accepted');
}

describe('parseModelConfig', () => {
  it('derives the geometry of T32', () => {
    const config = parseModelConfig(hashConfig('T32'));
    expect(config).toMatchObject({
      hidden: 64,
      heads: 8,
      kvHeads: 2,
      headDim: 32,
      rotaryDim: 16,
      swiglu: { alpha: 1.702, beta: 1, limit: 7 },
      moe: { experts: 8, expertsPerToken: 2, sharedIntermediate: 32, sharedExpert: 'present' },
      sparse: { indexHeads: 2, indexDim: 32, blockTokens: 8, topkBlocks: 4, localBlocks: 1 },
    });
    expect(config.layers.map(({ attention, mlp }) => `${attention}+${mlp}`)).toEqual([
      'full+dense',
      'full+moe',
      'sparse+moe',
      'sparse+moe',
    ]);
  });

  it.each(['T32', 'T128'] as const)('reads both spellings of %s alike', (model) => {
    const nested = parseModelConfig(hashConfig(model));
    const flat = parseModelConfig(flatConfig(hashConfig(model)));
    expect(flat).toEqual({ ...nested, moe: { ...nested.moe, sharedExpert: 'unstated' } });
  });

  it('reads a text config at the top', () => {
    const text = { ...(hashConfig('T32')['text_config'] as Json), model_type: 'minimax_m3_text' };
    expect(parseModelConfig(text).hidden).toBe(64);
  });

  it('accepts the quantised config', () => {
    expect(parseModelConfig(quantizedConfig(hashConfig('T128'))).heads).toBe(32);
  });

  it('uses the clamped SwiGLU whatever `hidden_act` says', () => {
    const { swiglu } = parseModelConfig(changed({ hidden_act: 'silu', swiglu_limit: 5 }));
    expect(swiglu.limit).toBe(5);
  });

  it('makes every layer full when sparse attention is off', () => {
    const { layers, sparse } = parseModelConfig(changed({}, { use_sparse_attention: false }));
    expect(layers.every(({ attention }) => attention === 'full')).toBe(true);
    expect(sparse).toBeUndefined();
  });

  it('takes the width of the shared expert from the count when no width is stated', () => {
    const json = changed({ shared_intermediate_size: undefined, n_shared_experts: 2 });
    expect(parseModelConfig(json).moe?.sharedIntermediate).toBe(64);
  });

  it.each([
    ['MODEL_CONFIG_TYPE', [], 'expected an object'],
    ['MODEL_CONFIG_TYPE', changed({ hidden_size: '64' }), 'text_config.hidden_size'],
    ['MODEL_CONFIG_TYPE', changed({ sparse_attention_config: 3 }), 'sparse_attention_config'],
    ['MODEL_CONFIG_MISSING', changed({ max_position_embeddings: null }), 'max_position'],
    ['MODEL_CONFIG_MISSING', changed({ moe_layer_freq: undefined }), 'mlp_layer_types'],
    ['MODEL_CONFIG_RANGE', changed({ hidden_size: 6.5 }), 'whole number'],
    ['MODEL_CONFIG_RANGE', changed({ hidden_size: 0 }), 'whole number'],
    ['MODEL_CONFIG_RANGE', changed({ num_hidden_layers: 1e9 }), 'at most 4096'],
    ['MODEL_CONFIG_RANGE', changed({ num_attention_heads: 7 }), 'multiple of'],
    ['MODEL_CONFIG_RANGE', changed({ moe_layer_freq: [0, 1] }), '4 entries'],
    ['MODEL_CONFIG_RANGE', changed({ moe_layer_freq: [0, 1, 1, 2] }), 'moe_layer_freq[3]'],
    ['MODEL_CONFIG_RANGE', changed({ num_experts_per_tok: 9 }), 'at most'],
    ['MODEL_CONFIG_RANGE', changed({}, { sparse_num_index_heads: 4 }), 'KV group'],
    ['MODEL_CONFIG_RANGE', changed({}, { sparse_index_dim: 8 }), 'rotary width'],
    ['MODEL_CONFIG_RANGE', changed({ head_dim: 1024 }), '512'],
    ['MODEL_CONFIG_RANGE', changed({}, { sparse_topk_blocks: 2000 }), '1024'],
    ['MODEL_CONFIG_RANGE', changed({}, { sparse_local_block: 0 }), 'from 1'],
    ['MODEL_CONFIG_RANGE', changed({}, { sparse_local_block: 5 }), 'forced blocks'],
    [
      'MODEL_CONFIG_RANGE',
      changed({}, { sparse_disable_index_value: [0, 0, 0, 1] }),
      'sparse_disable_index_value[2]',
    ],
    ['MODEL_CONFIG_RANGE', changed({ rotary_dim: 15, partial_rotary_factor: null }), 'even'],
    ['MODEL_CONFIG_CONFLICT', changed({ rotary_dim: 32 }), 'must agree'],
    ['MODEL_CONFIG_CONFLICT', changed({ index_block_size: 16 }), 'index_block_size'],
    ['MODEL_CONFIG_CONFLICT', changed({ rope_parameters: { rope_theta: 1e4 } }), 'rope_theta'],
    [
      'MODEL_CONFIG_CONFLICT',
      changed({ mlp_layer_types: ['dense', 'dense', 'sparse', 'sparse'] }),
      'mlp_layer_types',
    ],
    ['MODEL_CONFIG_UNSUPPORTED', changed({ use_gemma_norm: false }), '1 + w'],
    ['MODEL_CONFIG_UNSUPPORTED', changed({ scoring_func: 'softmax' }), 'sigmoid'],
    ['MODEL_CONFIG_UNSUPPORTED', changed({ attention_output_gate: true }), 'gate'],
    ['MODEL_CONFIG_UNSUPPORTED', changed({ rope_scaling: { type: 'yarn' } }), 'not scaled'],
    ['MODEL_CONFIG_UNSUPPORTED', changed({}, { sparse_score_type: 'lse' }), 'best key'],
    [
      'MODEL_CONFIG_UNSUPPORTED',
      changed({}, {}, { quantization_config: { quant_method: 'fp8' } }),
      'mxfp8',
    ],
    ['MODEL_CONFIG_MODEL_TYPE', changed({}, {}, { model_type: 'llama' }), '`minimax_m3_vl`'],
    ['MODEL_CONFIG_MODEL_TYPE', changed({}, {}, { model_type: null }), 'absent'],
  ])('answers %s and says why (%#)', (code, json, words) => {
    const error = failure(json);
    expect(error.code).toBe(code);
    expect(error.message).toContain(words);
    expect(ModelError.isInstance(error)).toBe(true);
  });
});

describe('readModelConfig', () => {
  it('names a folder without config.json', async () => {
    const error = await readModelConfig('/nonexistent').catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'MODEL_CONFIG_FILE' });
  });
});
