import { describe, expect, it } from 'vitest';
import { begin, parseConversations, shown, withoutShown, withTurns } from './conversations.js';
import { emptyAnswer, type Turn } from './turn.js';

const user = (content: string): Turn => ({ role: 'user', content });

describe('conversations', () => {
  it('take the first line of their question as title, and the newest comes first', () => {
    const first = withTurns(begin([], 'a'), [user(`${'x'.repeat(60)}\nmore`)]);
    expect(shown(first).title).toBe(`${'x'.repeat(48)}…`);
    const second = begin(first.all, 'b');
    expect(second.all.map(({ id }) => id)).toEqual(['b', 'a']);
    expect(shown(second).turns).toEqual([]);
    expect(withoutShown(second, 'c')).toEqual({ current: 'a', all: first.all });
    expect(shown(withoutShown(first, 'c')).id).toBe('c');
  });

  it('are at most fifty, and empty ones are not kept', () => {
    let kept = begin([], 'c0');
    for (let index = 1; index <= 60; index += 1) {
      kept = begin(withTurns(kept, [user('q')]).all, `c${index}`);
    }
    expect(kept.all).toHaveLength(50);
    expect(begin(begin(kept.all, 'e1').all, 'e2').all.map(({ id }) => id)).not.toContain('e1');
  });

  it('survive being kept; what is damaged is dropped', () => {
    const kept = withTurns(begin([], 'a'), [user('q'), { ...emptyAnswer, content: 'x' }]);
    expect(parseConversations(JSON.stringify(kept), 'z')).toEqual(kept);
    const bad = { id: 'b', title: '', turns: [{ role: 'assistant', content: 'no calls' }] };
    const mixed = { current: 'b', all: [bad, ...kept.all] };
    const read = parseConversations(JSON.stringify(mixed), 'z');
    expect(read.all.map(({ id }) => id)).toEqual(['z', 'a']);
    for (const text of [null, '', '{', 'null', '[]', '{"all":3}', '{"all":[null]}']) {
      expect(shown(parseConversations(text, 'z')).id, String(text)).toBe('z');
    }
  });
});
