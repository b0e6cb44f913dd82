import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type BenchPrompt, countRequests } from '../bench-prompt.js';
import { SeededRandom } from '../seeded-random.js';
import { longLength, longPrompts } from './long-prompts.js';
import { randomPrompts } from './random-prompts.js';
import { replayedRequests } from './replay-prompts.js';
import { shareGptPrompts } from './sharegpt-prompts.js';
import { toolUseDialogues } from './tool-use-dialogues.js';

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

describe('requests of a trace', () => {
  const folder = mkdtempSync(join(tmpdir(), 'replay-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const head = { trace: 'altstream-schedule', version: 3, options: { pageTokens: 8 } };
  const add = (atMs: number, promptTokens: number, pages: readonly number[]) => ({
    ...{ add: 1, atMs, promptTokens, maxTokens: promptTokens + 1, pages: [1, ...pages] },
  });
  const write = (name: string, ...lines: readonly unknown[]): string => {
    const path = join(folder, name);
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return path;
  };

  it('have its times and lengths, and share the pages that it says', async () => {
    const path = write(
      'trace.jsonl',
      ...[head, add(500, 20, [1, 2]), { next: 1, decided: {} }, add(530, 19, [1, 3])],
      ...[{ commit: [], prefill: [] }, add(700, 5, [])],
    );
    const { prompts, arrivalsMs } = await replayedRequests({ path, count: 9, seed: 0 });
    expect(arrivalsMs).toEqual([0, 30, 200]);
    expect(prompts.map(({ outputTokens }) => outputTokens)).toEqual([21, 20, 6]);
    const words = prompts.map(({ text }) => text.split(' '));
    expect(words.map(({ length }) => length)).toEqual([20, 19, 5]);
    expect(words[0]?.slice(0, 8)).toEqual(words[1]?.slice(0, 8));
    expect(words[0]?.slice(8, 16)).not.toEqual(words[1]?.slice(8, 16));
    const again = await replayedRequests({ path, count: 2, seed: 0 }, tokenizer);
    expect(again.prompts).toHaveLength(2);
    expect(again.prompts[0]?.textTokens).toBeGreaterThan(0);
    expect((await replayedRequests({ path, count: 1, seed: 1 })).prompts[0]?.text).not.toBe(
      prompts[0]?.text,
    );
  });

  it.each([
    ['other.jsonl', [{ conversations: [] }], /no head of a trace/],
    ['empty.jsonl', [head, { flush: true }], /no request was recorded/],
    ['wrong.jsonl', [head, { add: 1, atMs: 'now' }], /atMs/],
  ])('%s is an error of usage', async (name, lines, message) => {
    const options = { path: write(name, ...lines), count: 1, seed: 0 };
    await expect(replayedRequests(options)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(message),
    });
  });
});

describe('dialogues with tools', () => {
  const sizes = {
    ...{ turns: 3, tools: 2, systemTokens: 5, questionTokens: 10, resultTokens: 20 },
    ...{ outputTokens: 7, rangeRatio: 0 },
  };
  type Chat = {
    messages: { role: string; content: string; tool_call_id?: string; tool_calls?: Called[] }[];
    tools: { function: { name: string; parameters: { required: string[] } } }[];
  };
  type Called = { id: string; function: { name: string; arguments: string } };
  const chain = (first: BenchPrompt | undefined): Chat[] =>
    first ? [first.chat as unknown as Chat, ...chain(first.next)] : [];
  const dialogues = (count: number, seed = 1, more = {}) =>
    toolUseDialogues(count, { ...sizes, ...more }, new SeededRandom(seed));

  it('are as many requests as asked for, each with all messages before it', () => {
    const all = dialogues(7);
    expect([all.length, countRequests(all)]).toEqual([3, 7]);
    expect(all.map((one) => chain(one).length)).toEqual([3, 3, 1]);
    for (const first of all) {
      const chats = chain(first);
      chats.forEach(({ messages }, index) => {
        const roles = ['system', 'user', ...Array(index).fill(['assistant', 'tool']).flat()];
        expect(messages.map(({ role }) => role)).toEqual(roles);
        expect(messages.slice(0, 2 * index)).toEqual(
          chats[index - 1]?.messages.slice(0, 2 * index) ?? [],
        );
      });
    }
    const systems = all.map((one) => chain(one)[0]?.messages[0]?.content);
    expect(new Set(systems).size).toBe(1);
    expect(chain(dialogues(1, 1, { systemTokens: 0 })[0])[0]?.messages[0]?.role).toBe('user');
  });

  it('call functions that are offered, and answer those calls', () => {
    const chats = dialogues(30).flatMap(chain);
    const called = chats.flatMap(({ messages, tools }) => {
      const names = tools.map((tool) => tool.function.name);
      expect(names).toEqual(['lookup_0', 'lookup_1']);
      return messages.flatMap(({ tool_calls = [] }, index) => {
        const [call] = tool_calls;
        if (!call) return [];
        expect(names).toContain(call.function.name);
        expect(JSON.parse(call.function.arguments)).toMatchObject({ query: expect.any(String) });
        expect(messages[index + 1]).toMatchObject({ role: 'tool', tool_call_id: call.id });
        return [call.function.name];
      });
    });
    expect(new Set(called).size).toBe(2);
  });

  it('have lengths that vary, and are those of the seed', () => {
    const words = (seed: number) =>
      dialogues(40, seed, { rangeRatio: 0.5 })
        .flatMap(chain)
        .map(({ messages }) => messages.at(-1)?.content.split(' ').length ?? 0);
    expect(words(1)).toEqual(words(1));
    expect(words(1)).not.toEqual(words(2));
    expect([Math.min(...words(1)) >= 5, Math.max(...words(1)) <= 30]).toEqual([true, true]);
    expect(dialogues(3).map(({ outputTokens }) => outputTokens)).toEqual([7]);
  });
});

describe('very long prompts', () => {
  it('have a million tokens, or what the context leaves, unless it is said', () => {
    const length = (contextTokens?: number, inputTokens?: number) =>
      longLength({ inputTokens, outputTokens: 100 }, { contextTokens });
    expect([length(), length(2_000_000), length(1_000_100), length(5000)]).toEqual([
      ...[1_000_000, 1_000_000, 999_936, 4836],
    ]);
    expect(length(5000, 9000)).toBe(9000);
    expect(() => length(150)).toThrow(
      /leaves no room beside 100; pass a smaller --random-output-len/,
    );
  });

  const make = (counted: number | undefined, withTokenizer: boolean, count = 2) => {
    const asked: string[] = [];
    const server = {
      contextTokens: undefined,
      countTokens: async (text: string) => {
        asked.push(text);
        return counted;
      },
    };
    const options = { random: new SeededRandom(1), server };
    const made = longPrompts(
      count,
      10_000,
      { outputTokens: 3 },
      {
        ...options,
        tokenizer: withTokenizer ? tokenizer : undefined,
      },
    );
    return { made, asked };
  };

  it('are counted here, or by what the server says of a few words', async () => {
    const here = make(undefined, true);
    expect((await here.made).map(({ textTokens }) => textTokens)).toEqual([10_000, 10_000]);
    expect(here.asked).toEqual([]);
    // A word in four tokens.
    const there = make(8000, false);
    const [first, second] = await there.made;
    expect(there.asked[0]?.split(' ')).toHaveLength(2000);
    expect(first?.text.split(' ')).toHaveLength(2475);
    expect(first?.text.slice(0, 200)).not.toBe(second?.text.slice(0, 200));
    await expect(make(undefined, false).made).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/no \/tokenize .*pass --tokenizer DIR/),
    });
  });
});
