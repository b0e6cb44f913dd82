import { describe, expect, it } from 'vitest';
import type { SamplingFields } from '../openai/sampling-fields.js';
import { samplingParameters, stopStrings } from './sampling.js';

const defaults = { temperature: 0.7, topP: 0.95, topK: 40, eosTokenIds: [1, 2] };
const limits = { maxTokens: 5, logprobs: undefined };
const of = (fields: Partial<SamplingFields>, index = 0) =>
  samplingParameters({ model: 'm', ...fields }, index, { defaults, limits });

describe('sampling parameters', () => {
  it('come from the request, else from the checkpoint', () => {
    expect(of({})).toEqual({
      temperature: 0.7,
      topP: 0.95,
      topK: 40,
      minP: 0,
      minTokens: 0,
      maxTokens: 5,
      stopTokenIds: [1, 2],
    });
    expect(of({ temperature: 1.5, top_p: 0.5, top_k: 3, min_p: 0.1 })).toMatchObject({
      temperature: 1.5,
      topP: 0.5,
      topK: 3,
      minP: 0.1,
    });
  });

  it.each([
    ['a tiny temperature is greedy', { temperature: 1e-6 }, { temperature: 0 }],
    ['top_k of -1 is off', { top_k: -1 }, { topK: 0 }],
    ['top_k above any vocabulary is all of it', { top_k: 2 ** 40 }, { topK: 2 ** 31 - 1 }],
    [
      'ignore_eos leaves own stop ids',
      { ignore_eos: true, stop_token_ids: [7] },
      { stopTokenIds: [7] },
    ],
    ['stop ids add to the checkpoint’s', { stop_token_ids: [7] }, { stopTokenIds: [1, 2, 7] }],
    [
      'penalties are the request’s',
      { frequency_penalty: 1, presence_penalty: -1, repetition_penalty: 1.2 },
      { frequencyPenalty: 1, presencePenalty: -1, repetitionPenalty: 1.2 },
    ],
    [
      'a bias ends at 100',
      { logit_bias: { 5: 1e9, 6: -101, 7: 3 } },
      {
        logitBias: new Map([
          [5, 100],
          [6, -100],
          [7, 3],
        ]),
      },
    ],
    ['a seed beyond 64 bits wraps', { seed: 2 ** 64 }, { seed: 0n }],
  ])('%s', (_, fields, expected) => {
    expect(of(fields)).toMatchObject(expected);
  });

  it('have no stop id of the checkpoint that the model has not', () => {
    const settings = { defaults, limits, vocabSize: 2 };
    const { stopTokenIds } = samplingParameters({ model: 'm' }, 0, settings);
    expect(stopTokenIds).toEqual([1]);
  });

  it('gives every choice its own seed, the first one the request’s', () => {
    const seeds = [0, 1, 2].map((index) => of({ seed: 7 }, index).seed);
    expect(seeds[0]).toBe(7n);
    expect(new Set(seeds).size).toBe(3);
  });

  it('makes a list of one stop string', () => {
    expect(stopStrings({ model: 'm', stop: 'a' })).toEqual(['a']);
    expect(stopStrings({ model: 'm', stop: ['a', 'b'] })).toEqual(['a', 'b']);
    expect(stopStrings({ model: 'm', stop: null })).toEqual([]);
  });
});
