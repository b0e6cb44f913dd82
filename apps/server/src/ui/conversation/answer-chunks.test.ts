import { describe, expect, it } from 'vitest';
import { AnswerChunks, type Chunk } from './answer-chunks.js';

type Delta = NonNullable<NonNullable<Chunk['choices']>[number]['delta']>;

const delta = (piece: Delta, finish: string | null = null): Chunk => ({
  choices: [{ delta: piece, finish_reason: finish }],
});
const usage = { prompt_tokens: 9, completion_tokens: 5 };

describe('AnswerChunks', () => {
  it('joins thoughts, text and calls, whichever of the two names thoughts have', () => {
    const chunks = new AnswerChunks(100);
    chunks.add(delta({ content: '' }), 110);
    chunks.add(delta({ reasoning_content: 'a', reasoning: 'a' }), 120);
    chunks.add(delta({ reasoning: 'b' }), 140);
    chunks.add(delta({ content: 'Hi' }), 150);
    const open = { index: 0, id: 'call_1', function: { name: 'get', arguments: '' } };
    chunks.add(delta({ tool_calls: [open] }), 160);
    chunks.add(delta({ tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] }), 170);
    chunks.add(delta({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }), 180);
    chunks.add(delta({}, 'tool_calls'), 190);
    const { content, reasoning, calls, finish, numbers } = chunks.end(200);
    expect({ content, reasoning, finish }).toEqual({
      content: 'Hi',
      reasoning: 'ab',
      finish: 'tool_calls',
    });
    expect(calls).toEqual([{ id: 'call_1', name: 'get', arguments: '{"a":1}' }]);
    expect(numbers).toEqual({ firstMs: 20, thinkingMs: 20, totalMs: 100 });
  });

  it('leaves the first token out of the speed, and prefers what the server measured', () => {
    const measured = (...more: Chunk[]): number | undefined => {
      const chunks = new AnswerChunks(0);
      for (const [index, text] of ['a', 'b', 'c', 'd', 'e'].entries()) {
        chunks.add(delta({ content: text }), 1000 + index * 10);
      }
      for (const chunk of more) chunks.add(chunk, 2000);
      return chunks.end(2000).numbers.tokensPerSecond;
    };
    expect(measured()).toBeUndefined();
    expect(measured({ choices: [], usage })).toBe(100);
    expect(measured({ choices: [], usage, timings: { predicted_per_second: 80 } })).toBe(80);
    expect(measured({ usage, timings: { predicted_per_second: null } })).toBe(100);
  });

  it('throws what an error frame says, and keeps what came before', () => {
    const chunks = new AnswerChunks(0);
    chunks.add(delta({ content: 'half' }), 1);
    expect(() => chunks.add({ error: { message: 'the step failed' } }, 2)).toThrow('step failed');
    expect(chunks.end(3, 'stopped')).toMatchObject({ content: 'half', problem: 'stopped' });
  });
});
