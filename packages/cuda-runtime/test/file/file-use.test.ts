import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, MappedFile, open, type Runtime } from '../../src/index.js';

const directory = mkdtempSync(join(tmpdir(), 'file-use-'));
const path = join(directory, 'file');
const size = 40 * 2 ** 20;
const content = Buffer.alloc(size, 'some text, ');
let runtime: Runtime;
let device: Device;

beforeAll(async () => {
  writeFileSync(path, content);
  runtime = await open({ backend: 'cpu', isolated: true });
  device = runtime.device();
});
afterAll(async () => {
  await runtime.dispose();
  rmSync(directory, { recursive: true });
});

test.each([
  ['a path that is none', () => MappedFile.open(5 as never), /`file` is 5, expected the path/],
  ['an empty path', () => MappedFile.open(''), /`file` is/],
  ['a path with a zero byte', () => MappedFile.open('a\0b'), /`file` is/],
  ['options that are none', () => MappedFile.open(path, null as never), /`options` is null/],
  ['an unknown access', () => MappedFile.open(path, { access: 'x' as never }), /`access` is x/],
])('open refuses %s', async (_, call, text) => {
  await expect(call()).rejects.toMatchObject({
    code: 'CRT_ARGUMENT',
    message: expect.stringMatching(text),
  });
});

test.each([
  [-1, 1],
  [0.5, 1],
  [Number.NaN, 1],
  [2 ** 60, 1],
  [size, 1],
  [size + 1, 0],
  [0, size + 1],
  ['0' as never, 1],
])('copy refuses byte %s with a destination of %i bytes', async (offset, bytes) => {
  using file = await MappedFile.open(path);
  const call = file.copy(offset, new Uint8Array(bytes));
  await expect(call).rejects.toMatchObject({ code: 'CRT_ARGUMENT' });
});

test('copy refuses what is no memory, and memory that is gone', async () => {
  using file = await MappedFile.open(path);
  const gone = new Uint8Array(8);
  structuredClone(gone.buffer, { transfer: [gone.buffer] });
  for (const wrong of [null, {}, [1], new ArrayBuffer(8), gone]) {
    await expect(file.copy(0, wrong as never)).rejects.toMatchObject({ code: 'CRT_ARGUMENT' });
  }
  const host = await device.allocHost(8);
  host.dispose();
  await expect(file.copy(0, host)).rejects.toMatchObject({ code: 'CRT_DISPOSED' });
});

describe('dispose', () => {
  test('may be called twice; every use after it is an error', async () => {
    const file = await MappedFile.open(path);
    file.dispose();
    file.dispose();
    await expect(file.copy(0, new Uint8Array(1))).rejects.toMatchObject({ code: 'CRT_DISPOSED' });
    expect(() => file.describe()).toThrow(/is disposed/);
  });

  test('of the file lets copies under way finish', async () => {
    const file = await MappedFile.open(path);
    const [staged, host] = [new Uint8Array(size), await device.allocHost(size)];
    const copies = [file.copy(0, staged), file.copy(0, host)];
    file.dispose();
    await Promise.all(copies);
    expect(Buffer.compare(staged, content)).toBe(0);
    expect(Buffer.compare(new Uint8Array(host.buffer), content)).toBe(0);
    host.dispose();
  });

  test('of a host buffer, or a transfer of memory, hurts no copy under way', async () => {
    using file = await MappedFile.open(path);
    const host = await device.allocHost(size);
    const direct = file.copy(0, host);
    host.dispose();
    await direct;
    const view = new Uint8Array(size);
    const staged = file.copy(0, view);
    structuredClone(view.buffer, { transfer: [view.buffer] });
    await expect(staged).rejects.toThrow(/was transferred or shrunk away/);
  });
});

test('another thread copies: bytes arrive while this one never gives way', async () => {
  using file = await MappedFile.open(path);
  using host = await device.allocHost(size);
  const bytes = new Uint8Array(host.buffer).fill(0);
  const copy = file.copy(0, host);
  const end = performance.now() + 20_000;
  // memcmp reads a place again where it saw a difference, and finds none if the bytes have come
  // since: equal once does not mean equal.
  const isThere = () => [0, 1, 2, 3].every(() => Buffer.compare(bytes, content) === 0);
  while (!isThere() && performance.now() < end);
  expect(Buffer.compare(bytes, content)).toBe(0);
  await copy;
});

test('workers that end in the middle of copies leave the process well', async () => {
  for (let round = 0; round < 3; round++) {
    const worker = new Worker(new URL('../fixtures/worker.mjs', import.meta.url), {
      workerData: { program: './file-worker.ts', path },
    });
    expect((await once(worker, 'message'))[0]).toBe('copying');
    await worker.terminate();
  }
  using file = await MappedFile.open(path);
  const view = new Uint8Array(100);
  await file.copy(7, view);
  expect(Buffer.compare(view, content.subarray(7, 107))).toBe(0);
}, 30_000);

test('a settled copy holds no memory', async () => {
  const before = runtime.stats().bytesInUse;
  for (let round = 0; round < 200; round++) {
    using file = await MappedFile.open(path);
    const host = await device.allocHost(100);
    await file.copy(round, host);
    host.dispose();
    expect(runtime.stats().bytesInUse).toBe(before);
  }
});

test('the memory of a host buffer is free when dispose returns', async () => {
  const before = runtime.stats().bytesInUse;
  const host = await device.allocHost(size);
  expect(runtime.stats().bytesInUse).toBe(before + size);
  host.dispose();
  expect([runtime.stats().bytesInUse, host.buffer.byteLength]).toEqual([before, 0]);
  // Node copies it instead: such memory is bound to its thread.
  const other = await device.allocHost(size);
  const clone = structuredClone(other.buffer, { transfer: [other.buffer] });
  other.dispose();
  expect(new Uint8Array(clone).fill(3).length).toBe(size);
  expect(runtime.stats().bytesInUse).toBe(before);
});
