import { describe, expect, it } from 'vitest';
import type { ChatAnswer } from '../client/chat-answer.js';
import { AnswerDisplay, type ThoughtStyle } from './answer-display.js';

const answer: ChatAnswer = {
  content: 'four',
  reasoning: '2+2',
  toolCalls: [],
  finishReason: 'stop',
  completionTokens: 11,
  timing: { firstMs: 50, lastMs: 550, totalMs: 560 },
};

/** Both streams, and what both got in the order in which it came. */
function screen(isTTY: boolean) {
  const seen = { answers: '', notes: '', both: '' };
  const into = (name: 'answers' | 'notes') => ({
    isTTY,
    write: (text: string) => {
      seen[name] += text;
      seen.both += text;
    },
  });
  return { seen, output: { answers: into('answers'), notes: into('notes') } };
}

function shown(thoughts: ThoughtStyle, isTTY = false) {
  const { seen, output } = screen(isTTY);
  const display = new AnswerDisplay(output, thoughts);
  display.show({ type: 'reasoning', text: '2' });
  display.show({ type: 'reasoning', text: '+2' });
  display.show({ type: 'content', text: 'fo' });
  display.show({ type: 'content', text: 'ur' });
  display.finish(answer);
  return seen;
}

describe('the display of an answer', () => {
  it('writes the answer alone to the first stream, and the speed to the other', () => {
    const seen = shown('shown');
    expect(seen.answers).toBe('four\n');
    expect(seen.notes).toBe('2+2\n[11 tokens, 20.0 tokens/s, first after 50 ms, 0.56 s]\n');
    expect(seen.both).toBe(`2+2\nfour\n${seen.notes.slice(4)}`);
  });

  it('dims thoughts on a terminal', () => {
    const dimmed = '\u001b[2m2\u001b[0m\u001b[2m+2\u001b[0m\n';
    expect(shown('shown', true).notes.startsWith(dimmed)).toBe(true);
  });

  it('folds thoughts into one line', () => {
    expect(shown('folded').notes).toMatch(/^thought for [\d.]+ s, 3 characters\n\[11 tokens/);
    const onTerminal = shown('folded', true).both;
    expect(onTerminal).toMatch(/thinking …[\s\S]*3 characters.*\nfour\n/);
    expect(onTerminal).toContain('\r\u001b[K');
    expect(onTerminal).not.toContain('2+2');
  });

  it('hides thoughts', () => {
    expect(shown('hidden').notes).toMatch(/^\[11 tokens/);
  });

  it('shows each tool call on its line', () => {
    const { seen, output } = screen(false);
    const display = new AnswerDisplay(output, 'shown');
    display.show({ type: 'content', text: 'I look.' });
    display.show({ type: 'call-start', index: 0, name: 'find' });
    display.show({ type: 'call-arguments', index: 0, text: '{"q":' });
    display.show({ type: 'call-arguments', index: 0, text: '"x"}' });
    display.show({ type: 'call-start', index: 1, name: 'now' });
    display.show({ type: 'call-arguments', index: 1, text: '{}' });
    display.finish(answer);
    expect(seen.answers).toBe('I look.\n→ find {"q":"x"}\n→ now {}\n');
  });

  it('shows control characters on a terminal, and passes them on to a program', () => {
    for (const [isTTY, expected] of [
      [true, 'a␛[2Jb\n'],
      [false, 'a\u001b[2Jb\n'],
    ] as const) {
      const { seen, output } = screen(isTTY);
      const display = new AnswerDisplay(output, 'shown');
      display.show({ type: 'content', text: 'a\u001b[2Jb' });
      display.end();
      expect(seen.answers).toBe(expected);
    }
  });

  it('says that an answer is empty, or was cut off', () => {
    const { seen, output } = screen(false);
    const { completionTokens: _, ...uncounted } = answer;
    new AnswerDisplay(output, 'shown').finish({ ...uncounted, finishReason: 'length' });
    expect(seen.answers).toBe('');
    expect(seen.notes).toMatch(/\(an empty answer\)\n\[tokens not counted, .*\n\[cut off by/);
  });
});
