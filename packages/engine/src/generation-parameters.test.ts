import { describe, expect, it } from 'vitest';
import { ParameterError } from './errors/index.js';
import { type GenerationParameters, settleParameters } from './generation-parameters.js';

/** What is wrong as the error is to name it, without what was expected. */
const named = (name: string) => new RegExp(`^\`${name}\` is .+, expected .+`);

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
    ['logitBias', { 1: 1 }],
    ['stopTokenIds', [Number.NaN]],
    ['stopTokenIds', [-1]],
    ['stopTokenIds', [32]],
    ['stopTokenIds', ['1']],
    ['stopTokenIds', 5],
    ['stopStrings', 5],
    ['stopStrings', [5]],
    ['tenant', {}],
    ['tenant', 5],
    ['signal', {}],
    ['signal', { aborted: true }],
    ['signal', 5],
    ['grammar', {}],
    ['grammar', 5],
  ];
  it.each(wrong)('refuses %s = %s and names it', (name, value) => {
    const given = { [name]: value } as GenerationParameters;
    const limits = { vocabSize: 32, maxLogitBias: 8 };
    expect(() => settleParameters(given, limits)).toThrow(ParameterError);
    expect(() => settleParameters(given, limits)).toThrow(named(name));
  });

  it('says what was received, objects as they are written', () => {
    const refuse = (given: object) => () => settleParameters(given as GenerationParameters);
    expect(refuse({ tenant: { a: [1] } })).toThrow('`tenant` is { a: [ 1 ] }, expected a text');
    expect(refuse({ stopTokenIds: [1e10] })).toThrow(/is 10000000000, expected an integer from 0/);
    expect(refuse({ logitBias: { 1: 1 } })).toThrow(/is { '1': 1 }, expected a Map of token ids/);
    expect(refuse({ cacheSalt: Object.create(null) })).toThrow(/is \[Object: null prototype\] {}/);
  });

  it('takes at most 256 stop tokens, each once, and none that are to be passed over', () => {
    const stopTokenIds = Array.from({ length: 257 }, (_, id) => id);
    expect(() => settleParameters({ stopTokenIds })).toThrow(
      /`stopTokenIds` is 257, .*at most 256/,
    );
    expect(settleParameters({ stopTokenIds: [3, 3] }).stopTokenIds).toEqual(new Set([3]));
    expect(settleParameters({ stopTokenIds, ignoreEos: true }).stopTokenIds.size).toBe(0);
  });

  it('takes signals and matchers of any make', () => {
    const { signal } = new AbortController();
    expect(() => settleParameters({ signal })).not.toThrow();
    const likeOne = { aborted: false, addEventListener: () => {}, removeEventListener: () => {} };
    expect(() => settleParameters({ signal: likeOne as unknown as AbortSignal })).not.toThrow();
    const grammar = { accept: () => {}, mask: async () => undefined, dispose: () => {} };
    expect(settleParameters({ grammar }).grammar).toBe(grammar);
  });
});
