import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { open, openSync, type Stream, Tensor, Workspace } from '../src/index.js';
import { openTestRuntime, type TestRuntime } from './makers/test-kernels.js';

let t: TestRuntime;
let other: TestRuntime;
let s: Stream;
let y: Tensor;

beforeAll(async () => {
  t = await openTestRuntime();
  other = await openTestRuntime();
  s = t.device.createStream({ name: 's' });
  y = Tensor.allocate(t.device, [4, 4], 'i32', { stream: s });
});
afterAll(async () => {
  await t.runtime.dispose();
  await other.runtime.dispose();
});

const one = { grid: [1], block: [1] } as const;
const params = (more: object = {}) => ({ y, count: 16, factor: 1, x: 1, ...more }) as never;

const cases: readonly [string, string, RegExp, () => unknown][] = [
  ['a missing field', 'CRT_ARGUMENT', /missing: x\b/, () => launch({ y, count: 1, factor: 1 })],
  ['an unknown field', 'CRT_ARGUMENT', /unknown: z/, () => launch(params({ z: 1 }))],
  [
    'a field misspelt',
    'CRT_ARGUMENT',
    /missing: x; unknown: X/,
    () => launch({ y, count: 1, factor: 1, X: 1 }),
  ],
  [
    'a fraction for i32',
    'CRT_ARGUMENT',
    /`count` is 0.5, expected an i32/,
    () => launch(params({ count: 0.5 })),
  ],
  ['too large an i32', 'CRT_ARGUMENT', /`x` is 2147483648/, () => launch(params({ x: 2 ** 31 }))],
  ['text for a number', 'CRT_ARGUMENT', /`x` is "7", expected/, () => launch(params({ x: '7' }))],
  [
    'null for a pointer',
    'CRT_ARGUMENT',
    /`y` is null, expected a tensor or buffer/,
    () => launch(params({ y: null })),
  ],
  [
    'a wrong dtype',
    'CRT_ARGUMENT',
    /`y` is f32 \[2\], expected i32/,
    () => launch(params({ y: s.tensor([2], 'f32') })),
  ],
  [
    'memory of another runtime',
    'CRT_BACKEND_MISMATCH',
    /`y` belongs to another runtime/,
    () => launch(params({ y: Tensor.allocate(other.device, [1], 'i32') })),
  ],
  [
    'a kernel of another runtime',
    'CRT_BACKEND_MISMATCH',
    /another runtime/,
    () => s.launch(other.kernels.accumulate, one, params()),
  ],
  ['disposed memory', 'CRT_DISPOSED', /disposed/, () => launch(params({ y: disposed() }))],
  [
    'a zero grid',
    'CRT_LAUNCH_CONFIG',
    /`grid` x is 0, expected 1 …/,
    () => s.launch(t.kernels.accumulate, { grid: [0], block: [1] }, params()),
  ],
  [
    'a grid that is no number',
    'CRT_LAUNCH_CONFIG',
    /`grid`/,
    () => s.launch(t.kernels.accumulate, { grid: 3 as never, block: [1] }, params()),
  ],
  [
    'too many threads',
    'CRT_LAUNCH_CONFIG',
    /512 threads, kernel test_accumulate allows at most 256/,
    () => s.launch(t.kernels.accumulate, { grid: [1], block: [512] }, params()),
  ],
  [
    'too much shared memory',
    'CRT_LAUNCH_CONFIG',
    /`sharedBytes` is 1000000/,
    () => s.launch(t.kernels.accumulate, { ...one, sharedBytes: 1e6 }, params()),
  ],
  [
    'a cluster that does not divide',
    'CRT_LAUNCH_CONFIG',
    /divisor of the grid's 3/,
    () => s.launch(t.kernels.accumulate, { grid: [3], block: [1], cluster: [2] }, params()),
  ],
  [
    'programmatic without a wait',
    'CRT_LAUNCH_CONFIG',
    /does not wait/,
    () => s.launch(t.kernels.accumulate, { ...one, programmatic: { serialize: true } }, params()),
  ],
  [
    'a short source',
    'CRT_ARGUMENT',
    /`source` has 4 bytes, expected exactly the 64/,
    () => s.write(y, Int32Array.of(1)),
  ],
  [
    'a source that is no view',
    'CRT_ARGUMENT',
    /expected a typed array/,
    () => s.write(y, [1] as never),
  ],
  ['a transposed tensor', 'CRT_ARGUMENT', /not contiguous/, () => s.fill(y.slice(1, 0, 2), 0)],
  ['a byte too large', 'CRT_ARGUMENT', /`byte` is 256/, () => s.fill(y, 256)],
  ['a fill too long', 'CRT_ARGUMENT', /`bytes` is 65, expected 0 … 64/, () => s.fill(y, 0, 65)],
  [
    'a copy of unequal sizes',
    'CRT_ARGUMENT',
    /`source` has 16 bytes, `destination` 64/,
    () => s.copy(y, y.slice(0, 0, 1)),
  ],
  ['a copy that is too long', 'CRT_ARGUMENT', /expected 0 … 64/, () => s.copy(y, y, 65)],
  ['a negative size', 'CRT_ARGUMENT', /`bytes` is -1/, () => t.device.alloc(-1)],
  [
    'the largest size',
    'CRT_OOM',
    /no memory for 9007199254740991 bytes for all/,
    () => t.device.alloc(2 ** 53 - 1, { label: 'all' }),
  ],
  [
    'a size beyond integers',
    'CRT_ARGUMENT',
    /`bytes` is 9007199254740992/,
    () => t.device.alloc(2 ** 53),
  ],
  [
    'a host buffer of a pebibyte',
    'CRT_OOM',
    /is longer than the \d+ of `buffer\.constants\.MAX_LENGTH`/,
    () => t.device.allocHostSync(2 ** 50),
  ],
  [
    'a tensor of 2^40 numbers',
    'CRT_OOM',
    /no memory for/,
    () => s.tensor([2 ** 20, 2 ** 20], 'f32'),
  ],
  [
    'a tensor of 2^80 numbers',
    'CRT_ARGUMENT',
    /expected f32 of less than 2\^53 bytes/,
    () => s.tensor([2 ** 40, 2 ** 40], 'f32'),
  ],
  [
    'a workspace tensor of a pebibyte',
    'CRT_OOM',
    /no memory for/,
    () => new Workspace(t.device).tensor([2 ** 50], 'u8'),
  ],
  [
    'chunks of a pebibyte',
    'CRT_OOM',
    /no memory for/,
    () => new Workspace(t.device, { chunkBytes: 2 ** 50 }).tensor([1], 'u8'),
  ],
  ['a size that is no integer', 'CRT_ARGUMENT', /`bytes` is NaN/, () => t.device.alloc(Number.NaN)],
  [
    'a negative dimension',
    'CRT_ARGUMENT',
    /`shape` is \[-1\]/,
    () => Tensor.allocate(t.device, [-1], 'f32'),
  ],
  [
    'an unknown element type',
    'CRT_ARGUMENT',
    /`dtype` is f64, expected f32, bf16, .* u8/,
    () => Tensor.allocate(t.device, [1], 'f64' as never),
  ],
  [
    'a view outside its buffer',
    'CRT_ARGUMENT',
    /bytes \[0, 128\) of a buffer of 64/,
    () => Tensor.of(y.buffer, [32], 'i32'),
  ],
  [
    'a misaligned view',
    'CRT_ARGUMENT',
    /multiple of 4/,
    () => Tensor.of(y.buffer, [1], 'i32', { byteOffset: 2 }),
  ],
  ['a shape of other size', 'CRT_ARGUMENT', /does not hold the 16 elements/, () => y.view([3, -1])],
  ['a slice outside', 'CRT_ARGUMENT', /not inside dimension 0 of size 4/, () => y.slice(0, 2, 5)],
  ['a slice of no dimension', 'CRT_ARGUMENT', /`dim` is 2/, () => y.slice(2, 0, 1)],
  [
    'an event of another runtime',
    'CRT_BACKEND_MISMATCH',
    /`event` belongs to another/,
    () => s.wait(other.device.createEvent()),
  ],
  [
    'a stream of another runtime',
    'CRT_BACKEND_MISMATCH',
    /`other` belongs to another/,
    () => s.waitStream(other.device.createStream()),
  ],
  ['a device that is not there', 'CRT_ARGUMENT', /`index` is 7/, () => t.runtime.device(7)],
  [
    'an unknown kernel',
    'CRT_NO_SYMBOL',
    /it holds .*test_add/,
    () => t.module.kernel('test_nothing'),
  ],
  [
    'an unknown option',
    'CRT_ARGUMENT',
    /`gpu` is not an option/,
    () => openSync({ gpu: 1 } as never),
  ],
  [
    'an unknown CPU option',
    'CRT_ARGUMENT',
    /`cpu.turbo`/,
    () => openSync({ cpu: { turbo: true } as never }),
  ],
  [
    'an unknown schedule',
    'CRT_ARGUMENT',
    /expected parallel, serial/,
    () => openSync({ cpu: { schedule: 'best' as never } }),
  ],
  [
    'a registry stream disposed',
    'CRT_NOT_OWNER',
    /belongs to its runtime/,
    () => t.runtime.streams.get('alt').dispose(),
  ],
  [
    'other options for a known name',
    'CRT_ARGUMENT',
    /asked for -1/,
    () => t.runtime.streams.get('alt', { priority: -1 }),
  ],
  [
    'a chunk of no size',
    'CRT_ARGUMENT',
    /`chunkBytes` is 0/,
    () => new Workspace(t.device, { chunkBytes: 0 }),
  ],
  [
    'an unknown dtype of a workspace tensor',
    'CRT_ARGUMENT',
    /workspace\.tensor: `dtype` is f64/,
    () => new Workspace(t.device).tensor([1], 'f64' as never),
  ],
  [
    'a negative shape of a workspace tensor',
    'CRT_ARGUMENT',
    /workspace\.tensor: `shape` is \[-1\]/,
    () => new Workspace(t.device).tensor([-1], 'f32'),
  ],
  [
    'a negative time limit',
    'CRT_ARGUMENT',
    /synchronizeSync: `timeoutMs` is -1/,
    () => s.synchronizeSync({ timeoutMs: -1 }),
  ],
  [
    'a time limit that is no number',
    'CRT_ARGUMENT',
    /synchronizeSync: `timeoutMs` is NaN/,
    () => s.synchronizeSync({ timeoutMs: Number.NaN }),
  ],
];

describe('bad arguments', () => {
  test.each(cases)('%s gives %s, and nothing is submitted', (_, code, message, call) => {
    const { operations } = t.runtime.stats();
    expect(call).toThrow(expect.objectContaining({ code }));
    expect(call).toThrow(message);
    expect(t.runtime.stats().operations).toBe(operations);
  });

  test('a module that is not built, or not where it says, lists what was tried', async () => {
    const from = import.meta.url;
    await expect(
      t.runtime.loadModule({ manifest: '/nowhere/manifest.json' }),
    ).rejects.toMatchObject({
      code: 'CRT_NO_KERNEL_IMAGE',
      message: expect.stringContaining('/nowhere/manifest.json'),
    });
    await expect(
      t.runtime.loadModule({ manifest: dirname(t.module.manifest) }),
    ).rejects.toMatchObject({ code: 'CRT_NO_KERNEL_IMAGE' });
    await expect(t.runtime.loadModule({ package: '@altstream/other', from })).rejects.toMatchObject(
      { code: 'CRT_ARGUMENT', message: expect.stringContaining('@altstream/other') },
    );
  });

  test('other options for the open runtime of this thread are refused', async () => {
    const shared = await open({ backend: 'cpu' });
    expect(() => openSync({ backend: 'cpu', guards: false })).toThrow(/isolated: true/);
    expect(await open({ backend: 'cpu' })).toBe(shared);
    await shared.dispose();
    expect(shared.stats()).toBeDefined();
    await shared.dispose();
    expect(() => shared.stats()).toThrow(expect.objectContaining({ code: 'CRT_DISPOSED' }));
  });
});

function launch(values: object): void {
  s.launch(t.kernels.accumulate, one, values as never);
}

function disposed(): Tensor {
  const tensor = s.tensor([1], 'i32');
  tensor.dispose();
  return tensor;
}
