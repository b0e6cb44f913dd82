import { describe, expect, it } from 'vitest';
import { ParameterError } from './errors/index.js';
import { type GenerationParameters, settleParameters } from './generation-parameters.js';

describe('generation parameters', () => {
  it('fills in the documented defaults', () => {
    const { seed, ...rest } = settleParameters({});
    expect(typeof seed).toBe('bigint');
    expect(rest).toEqual({
      maxTokens: undefined,
      temperature: 1,
      topK: 0,
      topP: 1,
      minP: 0,
      frequencyPenalty: 0,
      presencePenalty: 0,
      repetitionPenalty: 1,
      logitBias: new Map(),
      stopTokenIds: new Set(),
      stopStrings: [],
      minTokens: 0,
      priority: 0,
      tenant: '',
      timeoutMs: undefined,
      logprobs: undefined,
      promptLogprobs: undefined,
    });
  });

  it('draws a new seed for each request that names none', () => {
    expect(settleParameters({}).seed).not.toBe(settleParameters({}).seed);
  });

  it('takes any 64-bit pattern as a seed', () => {
    expect(settleParameters({ seed: 2n ** 64n - 1n }).seed).toBe(-1n);
    expect(settleParameters({ seed: -5 }).seed).toBe(-5n);
  });

  it('takes as many alternatives as the kernel finds', () => {
    expect(settleParameters({ logprobs: 256 }).logprobs).toBe(256);
    expect(() => settleParameters({ logprobs: 257 })).toThrow(/an integer from 0 to 256/);
  });

  const wrong: [keyof GenerationParameters, unknown][] = [
    ['maxTokens', 0],
    ['maxTokens', 1.5],
    ['temperature', -0.1],
    ['temperature', Number.NaN],
    ['topK', -1],
    ['topP', 0],
    ['topP', 1.01],
    ['minP', 2],
    ['minTokens', -1],
    // The vocabulary has 32.
    ['logprobs', 33],
    ['promptLogprobs', -1],
    ['seed', 0.5],
    ['stopStrings', ['']],
    ['frequencyPenalty', 2.1],
    ['presencePenalty', -2.1],
    ['repetitionPenalty', 0],
    ['repetitionPenalty', 2.1],
    ['repetitionPenalty', Number.NaN],
    ['logitBias', new Map([[1, 101]])],
    ['logitBias', new Map([[-1, 0]])],
    ['logitBias', new Map([[1, Number.NaN]])],
    ['logitBias', new Map([[32, 1]])],
    ['logitBias', new Map(Array.from({ length: 9 }, (_, id) => [id, 1]))],
    ['stopTokenIds', Array.from({ length: 257 }, (_, id) => id)],
  ];
  it.each(wrong)('refuses %s = %s and names it', (name, value) => {
    const given = { [name]: value } as GenerationParameters;
    const limits = { vocabSize: 32, maxLogitBias: 8 };
    expect(() => settleParameters(given, limits)).toThrow(ParameterError);
    expect(() => settleParameters(given, limits)).toThrow(new RegExp(`\`${name}\` is`));
  });
});
