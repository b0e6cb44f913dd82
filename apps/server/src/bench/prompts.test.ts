import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { randomPrompts } from './random-prompts.js';
import { SeededRandom } from './seeded-random.js';
import { shareGptPrompts } from './sharegpt-prompts.js';

/** Two characters a token. */
const tokenizer = {
  encode: (text: string) => (text.match(/[\s\S]{1,2}/g) ?? []).map((_, index) => index),
  decode: (ids: Iterable<number>) => 'ab'.repeat([...ids].length),
};
const sizes = {
  inputTokens: 40,
  outputTokens: 10,
  rangeRatio: 0,
  prefixTokens: 0,
  prefixGroups: 1,
};

describe('random prompts', () => {
  it('have the wanted tokens, or words without a tokenizer', () => {
    const counted = randomPrompts(5, sizes, new SeededRandom(1), tokenizer);
    expect(counted.map(({ textTokens }) => textTokens)).toEqual([40, 40, 40, 40, 40]);
    const [words] = randomPrompts(1, sizes, new SeededRandom(1));
    expect(words?.text.split(' ')).toHaveLength(40);
    expect(words).not.toHaveProperty('textTokens');
  });

  it('vary within the range, and are those of the seed', () => {
    const varied = { ...sizes, rangeRatio: 0.5 };
    const lengths = (seed: number) =>
      randomPrompts(200, varied, new SeededRandom(seed)).map(({ text }) => text.split(' ').length);
    expect(Math.min(...lengths(3))).toBe(20);
    expect(Math.max(...lengths(3))).toBe(60);
    expect(lengths(3)).toEqual(lengths(3));
    expect(lengths(3)).not.toEqual(lengths(4));
  });

  it('share the prefix of their group', () => {
    const groups = { ...sizes, prefixTokens: 8, prefixGroups: 2 };
    const all = randomPrompts(4, groups, new SeededRandom(1)).map(({ text }) =>
      text.split(' ').slice(0, 8).join(' '),
    );
    expect(all[0]).toBe(all[2]);
    expect(all[1]).toBe(all[3]);
    expect(all[0]).not.toBe(all[1]);
  });
});

describe('ShareGPT prompts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sharegpt-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const dialogue = (question: string, answer: string) => ({
    conversations: [
      { from: 'human', value: question },
      { from: 'gpt', value: answer },
    ],
  });
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const good = dialogue('a question of some length', 'an answer of some length as well');
  const all = [good, dialogue('hm', 'no'), dialogue('x'.repeat(9000), 'long'), { other: 1 }, null];

  it.each([
    ['list.json', JSON.stringify(all)],
    ['lines.jsonl', `${all.map((one) => JSON.stringify(one)).join('\n')}\n`],
  ])('come from %s, without those that are too short or too long', async (name, text) => {
    const path = write(name, text);
    const prompts = await shareGptPrompts({ path, count: 3 }, new SeededRandom(1), tokenizer);
    expect(prompts).toEqual([1, 2, 3].map(() => expect.objectContaining({ textTokens: 13 })));
    expect(prompts[0]?.outputTokens).toBe(16);
    const short = await shareGptPrompts({ path, count: 1, outputTokens: 5 }, new SeededRandom(1));
    expect(short).toEqual([{ text: 'a question of some length', outputTokens: 5 }]);
  });

  it.each([
    ['object.json', '{}', /expected a JSON list/],
    ['broken.jsonl', '{"a": \n', /JSON/],
    ['none.json', '[]', /has no dialogue/],
  ])('%s is an error of usage', async (name, text, message) => {
    const options = { path: write(name, text), count: 1 };
    await expect(shareGptPrompts(options, new SeededRandom(1))).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(message),
    });
  });
});
