import { CapacityError, PromptError } from '@altstream/engine';
import { describe, expect, it } from 'vitest';
import { EventBatch } from './events/event-batch.js';
import { eventsOf } from './events/wire-events.js';
import { toWireError, type WireEvent } from './messages.js';

const token = (id: number): WireEvent => ({ type: 'token', id, logprob: -1, top: [] });

describe('errors that cross threads', () => {
  it('keep name, code, message and their plain facts', () => {
    expect(toWireError(new PromptError('too-long', 'far too long'))).toEqual({
      name: 'PromptError',
      code: 'ENGINE_PROMPT',
      message: 'far too long',
      facts: { name: 'PromptError', problem: 'too-long' },
    });
    expect(toWireError(new CapacityError('queue', 'full')).facts).toMatchObject({
      reason: 'queue',
    });
  });

  it('are errors also when something else was thrown', () => {
    expect(toWireError('oops')).toMatchObject({ code: 'UNKNOWN', message: 'oops' });
  });

  it('say no more than an answer may carry', () => {
    const long = 'x'.repeat(2 ** 20);
    const error = Object.assign(new Error(long), { code: 'C', reason: long, tokens: 7 });
    const cut = expect.stringMatching(/^x{4000}…$/);
    const facts = { reason: cut, tokens: 7 };
    expect(toWireError(error)).toEqual({ name: 'Error', code: 'C', message: cut, facts });
    expect(toWireError(long)).toMatchObject({ message: cut });
  });

  it('survive the structured clone', () => {
    const error = Object.assign(new Error('x'), { code: 7, handle: { deep: () => 1 } });
    expect(structuredClone(toWireError(error))).toMatchObject({ code: '7', facts: {} });
  });
});

describe('the batch of events', () => {
  const gathered = (events: readonly (readonly [number, WireEvent])[]) => {
    const sent: (readonly [number, WireEvent])[][] = [];
    const batch = new EventBatch((message) => sent.push([...eventsOf(structuredClone(message))]));
    for (const [id, event] of events) batch.add(id, event);
    return { batch, sent };
  };

  it('sends the events of one step in one message', async () => {
    const { batch, sent } = gathered([
      [1, token(5)],
      [2, token(6)],
    ]);
    await Promise.resolve();
    batch.add(1, token(7));
    batch.flush();
    batch.flush();
    await Promise.resolve();
    expect(sent).toEqual([
      [
        [1, token(5)],
        [2, token(6)],
      ],
      [[1, token(7)]],
    ]);
  });

  it('keeps all of every event, and their order', () => {
    const facts = { promptTokens: 1, cachedTokens: 0, generatedTokens: 2 };
    const events: [number, WireEvent][] = [
      [2 ** 40, { type: 'prompt', tokens: [] }],
      [2 ** 40, token(5)],
      [3, { type: 'token', id: 4, logprob: Number.NEGATIVE_INFINITY, top: [] }],
      [3, { type: 'token', id: 6, logprob: -0.1, top: [{ id: 6, logprob: -0.1 }] }],
      [4, { type: 'token', id: 6, logprob: -0.1, top: [], cachedTokens: 16 }],
      [4, token(7)],
      [4, { type: 'finish', reason: 'length', ...facts }],
    ];
    const { batch, sent } = gathered(events);
    batch.flush();
    expect(sent).toEqual([events]);
  });
});
