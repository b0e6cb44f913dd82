import { describe, expect, it } from 'vitest';
import { CompletionChoice, joinPieces } from './completion-choice.js';

const tokens = { bytesOf: (id: number) => Buffer.from(String.fromCharCode(id)), asTokenIds: false };
const token = (id: number) => ({ type: 'token', id, logprob: -1, top: [] }) as const;
const finish = {
  reason: 'length',
  stop: null,
  counts: { promptTokens: 2, cachedTokens: 0, completionTokens: 2, reasoningTokens: 0 },
} as const;
const stops = { endIds: new Set([1]), hasMatchedStop: false };
const step = { index: 0, deltas: [], tokens: [] };
const content = (text: string) => [{ type: 'content-delta', text } as const];

describe('a completion choice', () => {
  it('echoes the prompt once, with offsets in characters', () => {
    const shape = { logprobs: 1, echo: true, showsGenerated: true, stops, tokens };
    const choice = new CompletionChoice(0, { ids: [72, 101], text: 'He' }, shape);
    const prompt = { type: 'prompt', tokens: [{ logprob: -2, top: [] }] } as const;
    const pieces = [
      choice.ofStep({ ...step, prompt }),
      choice.ofStep({ ...step, tokens: [token(121)], deltas: content('y') }),
      choice.ofStep({ ...step, finish }),
    ].flatMap((piece) => piece ?? []);
    expect(joinPieces(pieces)).toEqual({
      index: 0,
      text: 'Hey',
      finish_reason: 'length',
      stop_reason: null,
      logprobs: {
        tokens: ['H', 'e', 'y'],
        token_logprobs: [null, -2, -1],
        top_logprobs: [null, { e: -2 }, { y: -1 }],
        text_offset: [0, 1, 2],
      },
    });
  });

  it('shows the prompt only for max_tokens 0', () => {
    const shape = {
      logprobs: undefined,
      echo: true,
      showsGenerated: false,
      stops,
      tokens,
    };
    const choice = new CompletionChoice(0, { ids: [72], text: 'H' }, shape);
    const piece = choice.ofStep({ ...step, tokens: [token(121)], deltas: content('y'), finish });
    expect(piece).toMatchObject({ text: 'H', logprobs: null });
  });
});
