import { describe, expect, it } from 'vitest';
import type { WireEvents } from '../messages.js';
import { Inbox } from './inbox.js';

/** A message of so many tokens, with ids from a first one on. */
function messageOf(tokens: number, first: number): WireEvents {
  return {
    requests: new Float64Array(tokens),
    tokens: Int32Array.from({ length: tokens }, (_, index) => first + index),
    logprobs: new Float64Array(tokens),
    others: [],
  };
}

describe('the inbox', () => {
  const read = (workMs: number) => {
    const seen: number[] = [];
    const counts = { done: 0 };
    const inbox = new Inbox({
      onEvent: (_, event) => {
        if (event.type === 'token') seen.push(event.id);
        const end = performance.now() + workMs;
        while (performance.now() < end);
      },
      onDone: () => {
        counts.done += 1;
      },
    });
    return { inbox, seen, counts };
  };

  it('hands a small message over at once', () => {
    const { inbox, seen, counts } = read(0);
    inbox.add(messageOf(3, 5));
    expect([seen, counts.done]).toEqual([[5, 6, 7], 1]);
  });

  it('lets timers have their turn between events, and keeps their order', async () => {
    const { inbox, seen, counts } = read(0.5);
    const delays: number[] = [];
    let last = performance.now();
    const timer = setInterval(() => {
      delays.push(performance.now() - last);
      last = performance.now();
    }, 1);
    for (let message = 0; message < 10; message += 1) inbox.add(messageOf(40, message * 40));
    expect(seen.length).toBeLessThan(100);
    await expect.poll(() => counts.done, { timeout: 30_000, interval: 1 }).toBe(10);
    clearInterval(timer);
    expect(seen).toEqual(Array.from({ length: 400 }, (_, id) => id));
    // 400 × 0.5 ms in turns of some milliseconds.
    expect(delays.length).toBeGreaterThan(10);
  });

  it('says that a message is done when all of it was handed over', () => {
    const { inbox, seen, counts } = read(0.5);
    inbox.add(messageOf(200, 0));
    expect([seen.length < 200, counts.done]).toEqual([true, 0]);
    inbox.flush();
    expect([seen.length, counts.done]).toEqual([200, 1]);
  });
});
