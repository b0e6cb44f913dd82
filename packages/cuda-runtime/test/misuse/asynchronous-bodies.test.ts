import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ArgumentError,
  captureOrRun,
  forkJoin,
  nvtx,
  type Stream,
  withAlt,
  withScratch,
} from '../../src/index.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';

let t: TestRuntime;
let main: Stream;
let alt: Stream;
const rejections: unknown[] = [];
const note = (reason: unknown) => rejections.push(reason);

beforeAll(async () => {
  t = await openTestRuntime();
  main = t.device.createStream({ name: 'main' });
  alt = t.device.createStream({ name: 'alt' });
  process.on('unhandledRejection', note);
});
afterAll(async () => {
  process.off('unhandledRejection', note);
  await t.runtime.dispose();
});
beforeEach(() => {
  rejections.length = 0;
});

const nothing = () => undefined;
const calls: readonly [string, (body: () => never) => unknown][] = [
  ['withStream', (body) => t.runtime.withStream(main, body)],
  ['withCaptureMode', (body) => t.runtime.withCaptureMode(body)],
  ['forkJoin branch', (body) => forkJoin(main, [[alt, body]], nothing)],
  ['forkJoin main', (body) => forkJoin(main, [[alt, nothing]], body)],
  ['withAlt', (body) => withAlt(main, alt, body, nothing)],
  ['capture', (body) => t.device.capture(body, { stream: main }).dispose()],
  ['captureOrRun', (body) => finish(captureOrRun(main, body))],
  ['withScratch', (body) => withScratch(main, body)],
];

/** What TypeScript makes of a generator for old engines. */
const translated = () => {
  const steps = { next: nothing, throw: nothing, return: nothing, [Symbol.iterator]: () => steps };
  return steps;
};
const generators: readonly [string, () => unknown][] = [
  ['a generator', function* (): Generator {}],
  ['an asynchronous generator', async function* (): AsyncGenerator {}],
  ['a translated generator', translated],
];

describe.each(calls)('%s', (_, call) => {
  test('refuses a promise, whose rejection does not end the process', async () => {
    const fail = async () => {
      await delay(1);
      throw new Error('of the body');
    };
    expect(() => call(fail as never)).toThrow(/returned a promise/);
    await delay(20);
    expect(rejections).toEqual([]);
    expect([main.captureStatus, t.runtime.isCaptureMode()]).toEqual(['none', false]);
  });

  test('refuses what has a method `then`', () => {
    // biome-ignore lint/suspicious/noThenProperty: the point of the test
    const thenable = { then: (resolve: (value: number) => void) => resolve(1) };
    expect(() => call((() => thenable) as never)).toThrow(/returned a promise/);
  });

  test.each(generators)('refuses %s, of which nothing has run', (_, body) => {
    expect(() => call(body as never)).toThrow(/returned a generator, and none of its code has run/);
    expect([main.captureStatus, t.runtime.isCaptureMode()]).toEqual(['none', false]);
  });

  test('takes an iterator that is a value', () => {
    const values = new Map([[1, 2]]).values();
    expect(() => call((() => values) as never)).not.toThrow();
  });

  test('takes an object whose `then` is no function', () => {
    const graph = t.device.createGraph();
    const branch = () => graph.addIf(graph.createCondition());
    expect(() => call(branch as never)).not.toThrow();
    graph.dispose();
  });
});

test('the error is an ArgumentError that names the call and the remedy', () => {
  const call = () => withScratch(main, async () => undefined);
  expect(call).toThrow(ArgumentError);
  expect(call).toThrow(/withScratch: .*given back when it returns.*Make it synchronous/);
});

test.each<[string, (callback: () => void) => unknown]>([
  ['stream.notify', (callback) => main.notify(callback)],
  ['graph.addNotify', (callback) => t.device.createGraph().addNotify(callback)],
  ['runtime.onDeviceLost', (callback) => t.runtime.onDeviceLost(callback)],
  ['nvtx.range', (callback) => nvtx.range('range', callback)],
])('%s refuses a generator function, which would never run', (name, call) => {
  for (const callback of [function* (): Generator {}, async function* (): AsyncGenerator {}]) {
    expect(() => call(callback)).toThrow(ArgumentError);
    expect(() => call(callback)).toThrow(
      new RegExp(`^${name}: .* is a generator function, expected a function`),
    );
  }
});

function finish(done: ReturnType<typeof captureOrRun>): void {
  if (done.ran === 'graph') done.exec.dispose();
}
