import { describe, expect, it } from 'vitest';
import { HeldSteps } from './held-steps.js';

const token = (id: number) => ({ type: 'token', id, logprob: 0, top: [] }) as const;
const text = (index: number, value: string, id = 1) => ({
  index,
  deltas: [{ type: 'content-delta', text: value }] as const,
  tokens: [token(id)],
});
const counts = { promptTokens: 1, cachedTokens: 0, completionTokens: 2, reasoningTokens: 0 };

describe('steps that are held', () => {
  it('go out one by one, at an interval of one', () => {
    const held = new HeldSteps(1);
    held.add(text(0, 'a'));
    expect(held.take()).toEqual([text(0, 'a')]);
    expect(held.take()).toEqual([]);
    held.add(text(0, 'b'));
    expect(held.take()).toEqual([text(0, 'b')]);
  });

  it('go out together at a longer one, but the first at once and the last with the end', () => {
    const held = new HeldSteps(3);
    const taken: string[] = [];
    const add = (step: Parameters<HeldSteps['add']>[0]): void => {
      held.add(step);
      for (const { index, deltas } of held.take()) {
        taken.push(
          `${index}:${deltas.map((delta) => ('text' in delta ? delta.text : '')).join('|')}`,
        );
      }
    };
    for (const letter of 'abcdefgh') add(text(0, letter));
    add(text(1, 'z'));
    add({ index: 0, deltas: [], tokens: [], finish: { reason: 'stop', stop: null, counts } });
    expect(taken).toEqual(['0:a', '0:bcd', '0:efg', '1:z', '0:h']);
  });

  it('join text of one kind, and keep what each choice counted last', () => {
    const held = new HeldSteps(1);
    held.add({ ...text(0, 'a', 1), prompt: { type: 'prompt', tokens: [] } });
    held.add({ ...text(0, 'b', 2), counts });
    const call = { type: 'tool-call-delta', index: 0, text: 'x' } as const;
    held.add({
      index: 0,
      deltas: [{ type: 'reasoning-delta', text: 'c' }, call],
      tokens: [token(3)],
    });
    held.add({ index: 0, deltas: [call, { ...call, index: 1 }], tokens: [token(4)] });
    expect(held.bytes).toBe(6 + 4 * 32);
    expect(held.take()).toEqual([
      {
        index: 0,
        deltas: [
          { type: 'content-delta', text: 'ab' },
          { type: 'reasoning-delta', text: 'c' },
          { ...call, text: 'xx' },
          { ...call, index: 1 },
        ],
        tokens: [1, 2, 3, 4].map(token),
        prompt: { type: 'prompt', tokens: [] },
        counts,
      },
    ]);
    expect(held.bytes).toBe(0);
  });

  it('all go out at the end, due or not', () => {
    const held = new HeldSteps(10);
    held.add(text(0, 'a'));
    held.take();
    held.add(text(0, 'b'));
    expect(held.take()).toEqual([]);
    expect(held.take(true)).toEqual([text(0, 'b')]);
  });
});
