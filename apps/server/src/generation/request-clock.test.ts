import { expect, it } from 'vitest';
import { RequestClock } from './request-clock.js';

function clockAt() {
  let now = 1000;
  const clock = new RequestClock(() => now);
  const wait = (ms: number) => {
    now += ms;
  };
  const after = (ms: number, choice = 0) => {
    wait(ms);
    return clock.token(choice);
  };
  return { clock, wait, after };
}

it('measures the first token, the gaps and the speed after the first', () => {
  const { clock, wait, after } = clockAt();
  wait(20);
  clock.prefill(8);
  wait(4);
  clock.prefill(5);
  expect(clock.pieces).toEqual([
    { ms: 20, tokens: 8 },
    { ms: 24, tokens: 5 },
  ]);
  expect(after(26)).toEqual({ ttftMs: 50 });
  expect(after(10)).toEqual({ gapMs: 10 });
  expect(after(30)).toEqual({ gapMs: 30 });
  expect(clock.timing()).toEqual({
    queueMs: 20,
    prefillMs: 30,
    ttftMs: 50,
    decodeMs: 40,
    tokensPerSecond: 50,
    meanItlMs: 20,
    totalMs: 90,
  });
});

it('adds the speeds of choices that run at the same time', () => {
  const { clock, after } = clockAt();
  after(50, 0);
  expect(after(0, 1)).toEqual({});
  after(10, 0);
  after(0, 1);
  expect(clock.timing()).toMatchObject({ tokensPerSecond: 200, meanItlMs: 10 });
});

it('has no speed without two tokens, nor when they came at once', () => {
  const { clock, after } = clockAt();
  expect(clock.timing()).toMatchObject({ ttftMs: null, decodeMs: null, meanItlMs: null });
  after(5);
  expect(clock.timing()).toMatchObject({ ttftMs: 5, tokensPerSecond: null });
  after(0);
  expect(clock.timing()).toMatchObject({ decodeMs: 0, tokensPerSecond: null });
});

it('keeps a thousand pieces of a prompt, and none of a prompt that another computed', () => {
  const { clock } = clockAt();
  clock.prefill(0);
  expect([clock.pieces, clock.timing().queueMs]).toEqual([[], 0]);
  for (let piece = 0; piece < 2000; piece += 1) clock.prefill(128);
  expect(clock.pieces).toHaveLength(1024);
});
