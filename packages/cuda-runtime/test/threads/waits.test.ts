import { getEventListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DeviceLostError, DisposedError, type Graph, type Stream } from '../../src/index.js';
import { injectFaults } from '../../src/testing/index.js';
import {
  accumulate,
  openTestRuntime,
  spin,
  type TestRuntime,
  zeros,
} from '../makers/test-kernels.js';

let t: TestRuntime;
let s: Stream;
const warnings: Error[] = [];
const note = (warning: Error) => warnings.push(warning);

beforeEach(async () => {
  t = await openTestRuntime({ maxPending: 4 });
  s = t.device.createStream({ name: 's' });
  warnings.length = 0;
  process.on('warning', note);
});
afterEach(async () => {
  process.off('warning', note);
  await t.runtime.dispose();
});

test('any number of waits take one signal', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const streams = Array.from({ length: 20 }, () => t.device.createStream());
  spin(t, s, 100);
  for (const stream of streams) stream.waitStream(s);
  const whole = t.device.synchronize({ signal });
  const waits = Array.from({ length: 20 }, () => s.synchronize({ signal }));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  await Promise.all([whole, ...waits]);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  spin(t, s, 50);
  const given = Promise.allSettled([s.synchronize({ signal }), s.record().done({ signal })]);
  controller.abort();
  for (const wait of await given) {
    expect(wait).toMatchObject({ status: 'rejected', reason: { name: 'AbortError' } });
  }
  await delay(1);
  expect(warnings).toEqual([]);
});

test('after `ready()` there is room, however small the limit', async () => {
  spin(t, s, 500); // long beside the next lines, also on a busy machine
  while (s.pending > 1) await delay(1); // what comes before the kernel is over
  while (s.pending < 4) s.notify(() => undefined);
  expect(() => s.notify(() => undefined)).toThrow(/Await `stream\.ready\(\)`/);
  await s.ready();
  expect(s.pending).toBeLessThan(2);
  s.notify(() => undefined);
});

test('`ready` names itself', async () => {
  const y = zeros(t, s, 1);
  injectFaults(t.runtime).failKernel('test_accumulate', 700);
  accumulate(t, s, y);
  await s.synchronize().catch(() => undefined);
  const lost = await s.ready().catch((error: unknown) => error);
  expect(lost).toBeInstanceOf(DeviceLostError);
  expect(lost).toMatchObject({ api: 'stream.ready', cuda: { number: 700 } });
  expect(String(lost)).not.toContain('onDeviceLost:');
  s.dispose();
  await expect(s.ready()).rejects.toMatchObject({ api: 'stream.ready', code: 'CRT_DISPOSED' });
});

test('a graph keeps 200,000 objects', async () => {
  const graph: Graph = t.device.createGraph();
  for (let count = 0; count < 200_000; count += 1) graph.retain({});
  graph.clone().dispose();
  (await graph.instantiate()).dispose();
  graph.instantiateSync().dispose();
});

test('what belongs to a disposed runtime says so', async () => {
  const { runtime, device, module } = t;
  const manifest = module.manifest;
  const legacy = device.legacyStream;
  await runtime.dispose();
  expect(() => runtime.checkRaces()).toThrow(DisposedError);
  expect(() => module.kernel('test_spin')).toThrow(DisposedError);
  expect(() => device.legacyStream).toThrow(DisposedError);
  expect(() => legacy.pending).toThrow(DisposedError);
  await expect(runtime.loadModule({ manifest })).rejects.toThrow(DisposedError);
  await expect(device.synchronize()).rejects.toThrow(DisposedError);
});

test('a wait that outlives its runtime resolves', async () => {
  spin(t, s, 30);
  const wait = s.synchronize();
  await t.runtime.dispose();
  await wait;
});
