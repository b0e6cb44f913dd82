import { describe, expect, it } from 'vitest';
import { openCalls, toMessages } from './messages.js';
import { type AssistantTurn, emptyAnswer, type Turn } from './turn.js';

const call = { id: 'call_1', name: 'get', arguments: '{}' };
const user: Turn = { role: 'user', content: 'Hi' };
const answer = (more: Partial<AssistantTurn>): AssistantTurn => ({ ...emptyAnswer, ...more });
const calling = answer({ reasoning: 'hm', calls: [call], finish: 'tool_calls' });
const result: Turn = { role: 'tool', callId: 'call_1', name: 'get', content: '7' };

describe('toMessages', () => {
  it('sends a tool round as the API takes it', () => {
    expect(toMessages({ role: 'developer', content: 'Be kind.' }, [user, calling, result])).toEqual(
      [
        { role: 'developer', content: 'Be kind.' },
        user,
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'hm',
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'get', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: '7' },
      ],
    );
  });

  it('leaves out an empty system text, answers that failed, and calls that were cut off', () => {
    const failed = answer({ problem: 'the queue is full' });
    const cut = answer({ content: 'So', calls: [{ ...call, arguments: '{"a' }], finish: 'length' });
    expect(toMessages({ role: 'system', content: ' ' }, [user, failed, cut])).toEqual([
      user,
      { role: 'assistant', content: 'So' },
    ]);
  });
});

describe('openCalls', () => {
  it('names calls of the last answer until each has its result', () => {
    expect(openCalls([user, calling])).toEqual([call]);
    expect(openCalls([user, calling, result])).toEqual([]);
    expect(openCalls([user, calling, user])).toEqual([]);
    expect(openCalls([user, answer({ calls: [call] })])).toEqual([]);
    expect(openCalls([])).toEqual([]);
  });
});
