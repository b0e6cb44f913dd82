import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import * as one from '../../src/index.js';
import { loadAttempts } from '../../src/native/load-binding.js';
import { openTestRuntime } from '../makers/test-kernels.js';

const folder = mkdtempSync(join(tmpdir(), 'copies-'));
let other: typeof one;
let a: one.Runtime;
let b: one.Runtime;
let kernel: one.Kernel;

beforeAll(async () => {
  const scene = await openTestRuntime({ backend: 'cpu' });
  a = scene.runtime;
  kernel = scene.kernels.accumulate;
  // Each copy of an installed package has an addon of its own.
  const addon = loadAttempts().find(({ outcome }) => outcome === 'loaded')?.path ?? '';
  copyFileSync(addon, join(folder, 'cuda_runtime.node'));
  vi.stubEnv('CUDA_RUNTIME_BINARY', join(folder, 'cuda_runtime.node'));
  vi.resetModules();
  other = await import('../../src/index.js');
  b = await other.open({ backend: 'cpu', isolated: true });
});
afterAll(async () => {
  await a?.dispose();
  await b?.dispose();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const calls: readonly [string, string, () => unknown][] = [
  ['waitStream', '`other` is a stream', () => a.currentStream().waitStream(b.currentStream())],
  ['withStream', '`stream` is a stream', () => a.withStream(b.currentStream(), () => undefined)],
  ['alloc', '`stream` is a stream', () => a.device().alloc(4, { stream: b.currentStream() })],
  ['currentStream', '`device` is a device', () => a.currentStream(b.device())],
  [
    'fill of a buffer',
    '`destination` is a device buffer',
    () => a.currentStream().fill(b.device().alloc(4), 0),
  ],
  [
    'fill of a tensor',
    '`destination` is a tensor',
    () => a.currentStream().fill(b.currentStream().tensor([1], 'f32'), 0),
  ],
  ['wait', '`event` is an event', () => a.currentStream().wait(b.currentStream().record())],
  [
    'addChild',
    '`graph` is a graph',
    () => a.device().createGraph().addChild(b.device().createGraph()),
  ],
  [
    'launch',
    '`y` is a tensor',
    () => {
      const params = { y: b.currentStream().tensor([4], 'i32'), count: 4, factor: 1, x: 1 };
      a.currentStream().launch(kernel, { grid: [1], block: [1] }, params);
    },
  ],
];

test.each(calls)(
  '%s: %s of another copy of the package, and the error says so',
  (_, what, call) => {
    expect(call).toThrow(one.ArgumentError);
    expect(call).toThrow(
      `${what} of another copy, or another version, of @altstream/cuda-runtime, expected `,
    );
    expect(call).toThrow('Install it once: `npm ls @altstream/cuda-runtime` shows the copies');
  },
);

test('a tensor of a buffer that no device made is of no other copy', () => {
  const tensor = one.Tensor.of({ bytes: 16 } as never, [4], 'i32');
  expect(() => a.currentStream().fill(tensor, 0)).toThrow(/a buffer that no device made, expected/);
});

test('what is of another kind is no other copy', () => {
  const call = () => a.currentStream().waitStream(a.device() as never);
  expect(call).toThrow('`other` is a device, expected a stream.');
  const event = () => a.currentStream().wait(new globalThis.Event('x') as never);
  expect(event).toThrow('`event` is an object (Event), expected an event.');
});
