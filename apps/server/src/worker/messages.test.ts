import { CapacityError, PromptError } from '@altstream/engine';
import { describe, expect, it } from 'vitest';
import { EventBatch } from './event-batch.js';
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

  it('survive the structured clone', () => {
    const error = Object.assign(new Error('x'), { code: 7, handle: { deep: () => 1 } });
    expect(structuredClone(toWireError(error))).toMatchObject({ code: '7', facts: {} });
  });
});

describe('the batch of events', () => {
  it('sends the events of one step in one message, in order', async () => {
    const sent: number[][] = [];
    const batch = new EventBatch((events) => sent.push(events.map(({ id }) => id)));
    batch.add(1, token(5));
    batch.add(2, token(6));
    await Promise.resolve();
    batch.add(1, token(7));
    batch.flush();
    batch.flush();
    await Promise.resolve();
    expect(sent).toEqual([[1, 2], [1]]);
  });
});
