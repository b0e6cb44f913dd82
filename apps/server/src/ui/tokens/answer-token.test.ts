import { describe, expect, it } from 'vitest';
import { heatLevel, perplexity, visibleText } from './answer-token.js';

describe('heatLevel', () => {
  it.each([
    [1, 0],
    [0.91, 0],
    [0.89, 1],
    [0.5, 2],
    [0.11, 3],
    [0.09, 4],
    [0, 4],
  ])('of %d is %d', (chance, level) => {
    expect(heatLevel(Math.log(chance))).toBe(level);
  });
});

describe('perplexity', () => {
  it('is the number of equally likely tokens that are as surprising', () => {
    const half = { token: 'a', logprob: Math.log(0.5) };
    const eighth = { token: 'b', logprob: Math.log(0.125) };
    expect(perplexity([half, eighth])).toBeCloseTo(4, 12);
    expect(perplexity([])).toBe(1);
  });
});

describe('visibleText', () => {
  it.each([
    [' a', undefined, ' a'],
    ['\n', undefined, '↵\n'],
    ['\t\0', undefined, '⇥⟨00⟩'],
    ['\ufffd', [0xe6, 0xbc], '⟨e6 bc⟩'],
    ['\ufffd', null, '\ufffd'],
    ['', [], '⟨empty⟩'],
  ])('of %j %j is %j', (token, bytes, shown) => {
    expect(visibleText({ token, ...(bytes === undefined ? {} : { bytes }) })).toBe(shown);
  });
});
