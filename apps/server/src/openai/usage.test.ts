import { describe, expect, it } from 'vitest';
import { usageOf } from './usage.js';

const counts = (promptTokens: number) => ({
  promptTokens,
  cachedTokens: promptTokens - 1,
  completionTokens: 3,
  reasoningTokens: 1,
});

describe('usage', () => {
  it('counts each prompt once and all generated tokens', () => {
    const choices = [counts(5), counts(5), counts(7), counts(7)];
    expect(usageOf(choices, 2)).toEqual({
      prompt_tokens: 12,
      completion_tokens: 12,
      total_tokens: 24,
      prompt_tokens_details: { cached_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 4 },
    });
  });
});
