import { describe, expect, it } from 'vitest';
import { EventQueue } from './event-queue.js';

function makeQueue() {
  const queue = new EventQueue<number>();
  const left = { times: 0 };
  const events = queue.iterate(() => {
    left.times += 1;
  });
  return { queue, events, left };
}

const end = { done: true, value: undefined };

describe('EventQueue', () => {
  it('yields what was pushed before and after the reader came, then ends', async () => {
    const { queue, events, left } = makeQueue();
    queue.push(1);
    setTimeout(() => {
      queue.push(2);
      queue.end();
    });
    const seen: number[] = [];
    for await (const event of events) seen.push(event);
    expect([seen, left.times]).toEqual([[1, 2], 0]);
  });

  it('tells once that the reader left in the middle', async () => {
    const { queue, events, left } = makeQueue();
    queue.push(1);
    for await (const _ of events) break;
    expect(await events.return?.()).toEqual(end);
    expect([await events.next(), left.times]).toEqual([end, 1]);
  });

  it('tells that the reader left before it began', async () => {
    const { queue, events, left } = makeQueue();
    queue.push(1);
    expect(await events.return?.()).toEqual(end);
    expect([await events.next(), left.times]).toEqual([end, 1]);
  });

  it('tells that the reader left while it waited, and the wait ends', async () => {
    const { events, left } = makeQueue();
    const waiting = events.next();
    expect(await events.return?.()).toEqual(end);
    expect([await waiting, left.times]).toEqual([end, 1]);
  });

  it('says nothing when the reader leaves after the end', async () => {
    const { queue, events, left } = makeQueue();
    queue.end();
    expect(await events.next()).toEqual(end);
    await events.return?.();
    expect(left.times).toBe(0);
  });
});
