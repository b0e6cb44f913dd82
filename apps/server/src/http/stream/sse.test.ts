import { EventEmitter } from 'node:events';
import type { FastifyReply } from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ClientWatch } from '../client-watch.js';
import { EventStream } from './sse.js';

/** A response whose client reads when the test says so. */
class FakeResponse extends EventEmitter {
  destroyed = false;
  #waiting: { readonly bytes: number; readonly read: () => void }[] = [];

  get writableLength(): number {
    return this.#waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  }
  writeHead(): void {}
  flushHeaders(): void {}
  write(text: string, read: () => void): void {
    this.#waiting.push({ bytes: text.length, read });
  }
  end = this.write;
  readOne(): void {
    this.#waiting.shift()?.read();
    if (this.#waiting.length === 0) this.emit('drain');
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

describe('a stream of events', () => {
  let raw: FakeResponse;
  const onSlow = vi.fn();

  beforeEach(() => {
    vi.useFakeTimers();
    onSlow.mockClear();
    raw = new FakeResponse();
  });
  afterEach(() => vi.useRealTimers());

  function open(stallMs: number): EventStream {
    const client = { probeBy: () => undefined, signal: new AbortController().signal };
    const reply = { raw, hijack: () => undefined, getHeaders: () => ({}) };
    return new EventStream(reply as unknown as FastifyReply, {
      keepAliveMs: 0,
      stallMs,
      client: client as unknown as ClientWatch,
      onSlow,
    });
  }

  it('gives a client up that reads nothing for the time, also after the end (S18)', () => {
    const events = open(1000);
    vi.advanceTimersByTime(5000);
    events.send('a');
    events.done();
    vi.advanceTimersByTime(900);
    expect(raw.destroyed).toBe(false);
    vi.advanceTimersByTime(400);
    expect(raw.destroyed).toBe(true);
    expect(onSlow).toHaveBeenCalledTimes(1);
  });

  it('serves one that reads slowly', () => {
    const events = open(1000);
    for (let piece = 0; piece < 20; piece += 1) events.send('a');
    for (let piece = 0; piece < 20; piece += 1) {
      vi.advanceTimersByTime(900);
      raw.readOne();
    }
    vi.advanceTimersByTime(60_000);
    expect(raw.destroyed).toBe(false);
  });

  it('says when to hold back, and when all was read', () => {
    const events = open(0);
    const read = vi.fn();
    events.onRead(read);
    events.send('x'.repeat(2 ** 18));
    expect(events.isBlocked).toBe(true);
    events.hold(2 ** 19);
    expect(raw.destroyed).toBe(false);
    raw.readOne();
    expect([events.isBlocked, read.mock.calls.length]).toEqual([false, 1]);
  });

  it('gives a client up for which too much is held (S18)', () => {
    const events = open(0);
    events.send('x'.repeat(2 ** 18));
    events.hold(2 ** 20);
    expect([raw.destroyed, events.isOpen]).toEqual([true, false]);
    expect(onSlow.mock.calls[0]?.[0]).toBeGreaterThan(2 ** 20);
  });
});
