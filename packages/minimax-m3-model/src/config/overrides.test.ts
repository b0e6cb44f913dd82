import { describe, expect, it } from 'vitest';
import { parseModelConfig } from '../config.js';
import { ModelConfigError } from '../errors/index.js';
import { builtInConfig, builtInModels } from './built-in-configs.js';
import { applyOverrides, parseOverrides } from './overrides.js';

const release = builtInConfig('MiniMax-M3');
const config = (...texts: string[]) =>
  parseModelConfig(applyOverrides(release, parseOverrides(texts)));

function failure(...texts: string[]): ModelConfigError {
  try {
    config(...texts);
  } catch (error) {
    if (error instanceof ModelConfigError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('built-in configs', () => {
  it('are those of the release, in MXFP8 and in bf16', () => {
    expect(builtInModels).toEqual(['MiniMax-M3', 'MiniMax-M3-BF16']);
    const { layers, ...facts } = config();
    expect(layers.map(({ attention, mlp }) => `${attention} ${mlp}`)).toEqual([
      ...new Array(3).fill('full dense'),
      ...new Array(57).fill('sparse moe'),
    ]);
    expect(facts).toMatchObject({ hidden: 6144, vocabSize: 200_064, quantization: 'mxfp8' });
    const bf16 = parseModelConfig(builtInConfig('MiniMaxAI/MiniMax-M3-BF16'));
    expect(bf16).toEqual({ ...config(), quantization: undefined });
    expect(builtInConfig('MiniMax-M2')).toBeUndefined();
    expect(builtInConfig('constructor')).toBeUndefined();
  });
});

describe('overrides', () => {
  it('cut the lists of layers, or repeat their last entry', () => {
    expect(config('num_hidden_layers=5').layers.map(({ mlp }) => mlp)).toEqual([
      ...new Array(3).fill('dense'),
      ...new Array(2).fill('moe'),
    ]);
    expect(config('num_hidden_layers=62').layers).toHaveLength(62);
    expect(config('num_hidden_layers=62').layers[61]).toEqual({ attention: 'sparse', mlp: 'moe' });
  });

  it('take several fields, wherever they lie, and a list has the last word', () => {
    const several = config(
      'moe_layer_freq=[1,0,0,1]',
      'num_hidden_layers = 4',
      'sparse_topk_blocks=8',
      'text_config.rope_theta=1e4',
      'torch_dtype=float16',
    );
    expect(several.layers.map(({ mlp }) => mlp)).toEqual(['moe', 'dense', 'dense', 'moe']);
    expect(several).toMatchObject({ sparse: { topkBlocks: 8 }, ropeTheta: 1e4 });
  });

  it('leave the config that they were made from alone', () => {
    config('num_hidden_layers=1');
    expect(config().layers).toHaveLength(60);
  });

  it('of an unknown field name the fields that exist', () => {
    const error = failure('num_layers=8');
    expect(error.code).toBe('MODEL_CONFIG_OVERRIDE');
    expect(error.message).toMatch(/`num_layers`.*no such field; it has .*num_hidden_layers/);
    expect(error.message).toContain('sparse_topk_blocks');
    expect(error.facts['fields']).toContain('hidden_size');
    expect(failure('text_config.x=1').message).toContain('`text_config.x`');
    expect(failure('sparse_attention_config={}').message).toContain('no such field');
  });

  it.each([
    ['num_hidden_layers="8"', /is "8", expected a number, as the 60 of the config/],
    ['num_hidden_layers=eight', /is "eight", expected a number/],
    ['use_routing_bias=1', /is 1, expected true or false/],
    ['moe_layer_freq=1', /is 1, expected a list/],
    ['num_hidden_layers', /expected `field=value`/],
    ['=3', /expected `field=value`/],
  ])('of the wrong kind are refused: %s', (text, message) => {
    const { code, message: said } = failure(text);
    expect([code, said]).toEqual(['MODEL_CONFIG_OVERRIDE', expect.stringMatching(message)]);
  });

  it('are refused twice', () => {
    expect(failure('hidden_size=64', 'hidden_size=32').message).toContain('given twice');
  });

  it.each(['num_hidden_layers=0', 'num_hidden_layers=1.5', 'num_experts_per_tok=500'])(
    'with a value that the model cannot have fail as the file would: %s',
    (text) => {
      expect(failure(text).code).toBe('MODEL_CONFIG_RANGE');
    },
  );
});
