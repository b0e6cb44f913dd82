import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { DeviceLostError } from '../errors/device-lost-error.js';
import { Completions } from './completions.js';

const lost = JSON.stringify({
  code: 'CRT_DEVICE_LOST',
  api: 'stream.synchronize',
  number: 700,
  detail: 'an illegal address was accessed',
  hint: '',
  stream: '',
  captureId: '0',
});

function setUp() {
  const kept: boolean[] = [];
  const completions = new Completions((on) => kept.push(on));
  const tokens: number[] = [];
  const wait = (signal?: AbortSignal) =>
    completions.wait((token) => void tokens.push(token), signal);
  return { completions, kept, tokens, wait };
}

describe('a wait', () => {
  test('resolves with its token and holds the process only as long as one is outstanding', async () => {
    const { completions, kept, tokens, wait } = setUp();
    const waits = [wait(), wait()];
    expect(kept).toEqual([true]);
    for (const token of tokens.toReversed()) completions.handle(token, '');
    await Promise.all(waits);
    expect(kept).toEqual([true, false]);
  });

  test('rejects with the error of the completion', async () => {
    const { completions, tokens, wait } = setUp();
    const promise = wait();
    completions.handle(tokens[0] ?? 0, lost);
    const error = await promise.catch((thrown: unknown) => thrown);
    expect(DeviceLostError.isInstance(error)).toBe(true);
  });

  test('is settled once: a token that comes again is counted and dropped', async () => {
    const { completions, tokens, wait } = setUp();
    const promise = wait();
    completions.handle(tokens[0] ?? 0, '');
    completions.handle(tokens[0] ?? 0, lost);
    await promise;
    expect(completions.dropped).toBe(1);
  });

  test('that is aborted rejects at once, and its late token is dropped', async () => {
    const { completions, kept, tokens, wait } = setUp();
    const controller = new AbortController();
    const promise = wait(controller.signal);
    controller.abort();
    await expect(promise).rejects.toMatchObject({ name: 'AbortError' });
    completions.handle(tokens[0] ?? 0, '');
    expect([completions.dropped, kept]).toEqual([1, [true, false]]);
    await expect(wait(controller.signal)).rejects.toMatchObject({ name: 'AbortError' });
    expect(tokens).toHaveLength(1);
  });

  test('that is aborted tells the reason, as the waits of Node do', async () => {
    const { completions, wait } = setUp();
    const reason = new Error('mine');
    const before = AbortSignal.abort(reason);
    await expect(wait(before)).rejects.toMatchObject({ name: 'AbortError', cause: reason });
    const controller = new AbortController();
    const promise = wait(controller.signal);
    const ofNode = delay(1000, undefined, { signal: controller.signal });
    controller.abort(reason);
    for (const one of [promise, ofNode]) {
      await expect(one).rejects.toMatchObject({ name: 'AbortError', cause: reason });
    }
    const plain = new AbortController();
    const given = wait(plain.signal);
    plain.abort();
    await expect(given).rejects.toBe(plain.signal.reason);
    expect(completions.dropped).toBe(0);
  });

  test('whose start throws rejects and holds nothing', async () => {
    const { completions, kept } = setUp();
    const failure = new Error('refused');
    const promise = completions.wait(() => {
      throw failure;
    });
    await expect(promise).rejects.toBe(failure);
    expect(kept).toEqual([true, false]);
  });
});

describe('a callback', () => {
  test('is called once, or each time, or no more', () => {
    const { completions, kept } = setUp();
    const calls: string[] = [];
    const once = completions.notify(() => calls.push('once'));
    const callOften = () => calls.push('often');
    const often = completions.notifyOften(callOften);
    for (const token of [once, often, once, often]) completions.handle(token, '');
    completions.cancel(often);
    completions.handle(often, '');
    expect(calls).toEqual(['once', 'often', 'often']);
    expect([completions.dropped, kept]).toEqual([2, []]);
  });

  test('that is not called is counted where it belongs, each time', () => {
    const { completions } = setUp();
    const [one, other] = [{ dropped: 0 }, { dropped: 0 }];
    const never = () => expect.unreachable();
    const tokens = [
      completions.notify(never, one),
      completions.notify(never), // nobody's
      completions.notifyOften(never, other),
      completions.notifyOften(never, other),
    ];
    for (const token of tokens) completions.handle(token, lost);
    completions.handle(tokens[2] ?? 0, lost);
    expect([one.dropped, other.dropped, completions.dropped]).toEqual([1, 3, 0]);
  });
});
