import { describe, expect, it } from 'vitest';
import { parseCompletionRequest, promptsOf } from './completion-request.js';

describe('the prompt of a text completion', () => {
  it.each([
    ['a text', 'a', 1],
    ['texts', ['a', 'b'], 2],
    ['token ids', [1, 2], 1],
    ['lists of token ids', [[1], [2, 3]], 2],
  ])('may be %s', (_, prompt, count) => {
    expect(promptsOf(parseCompletionRequest({ model: 'm', prompt }))).toHaveLength(count);
  });

  it.each([
    [null, /^`prompt`: expected text, token ids, or a list of those, received null$/],
    [5, /received number$/],
    [undefined, /^missing required parameter: `prompt`$/],
    ['', /is empty/],
    [{}, /received object$/],
    [['a', [1]], /received a list of other things$/],
    [[1, 'a'], /received a list of other things$/],
    [[1.5], /received a list of other things$/],
    [[new Array(500_000).fill('a')], /received a list of other things$/],
  ])('is refused with a reason when it is %#', (prompt, message) => {
    expect(() => parseCompletionRequest({ model: 'm', prompt })).toThrow(
      expect.objectContaining({
        status: 400,
        param: 'prompt',
        message: expect.stringMatching(message),
      }),
    );
  });
});
