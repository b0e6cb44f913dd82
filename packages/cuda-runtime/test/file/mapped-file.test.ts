import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type HostBuffer, MappedFile, open, type Runtime } from '../../src/index.js';

const directory = mkdtempSync(join(tmpdir(), 'mapped-file-'));
const size = 20 * 2 ** 20 + 123;
const content = Buffer.alloc(size, 'the bytes of a file that is larger than one staging buffer; ');
let runtime: Runtime;
let count = 0;

beforeAll(async () => {
  runtime = await open({ backend: 'cpu', isolated: true });
});
afterAll(async () => {
  await runtime.dispose();
  rmSync(directory, { recursive: true });
});

function fileOf(bytes: Uint8Array): string {
  const path = join(directory, `file-${count++}`);
  writeFileSync(path, bytes);
  return path;
}

const host = (bytes: number): Promise<HostBuffer> => runtime.device().allocHost(bytes);

describe.each(['mapped', 'read'] as const)('a file with access %s', (access) => {
  test('tells its size and how it is accessed', async () => {
    const path = fileOf(content);
    using file = await MappedFile.open(path, { access });
    const reason = access === 'read' ? { reason: "it was opened with access 'read'" } : {};
    expect(file.describe()).toEqual({ file: path, bytes: size, access, ...reason });
  });

  test.each([
    [0, size],
    [4095, 2],
    [8 * 2 ** 20 - 1, 2],
    [5, 9 * 2 ** 20],
    [size - 1, 1],
    [size, 0],
  ])('gives from byte %i on %i bytes, to a view and to a host buffer', async (offset, bytes) => {
    using file = await MappedFile.open(fileOf(content), { access });
    const expected = content.subarray(offset, offset + bytes);
    const around = new Uint8Array(bytes + 2).fill(7);
    await file.copy(offset, around.subarray(1, bytes + 1));
    expect(Buffer.compare(around.subarray(1, bytes + 1), expected)).toBe(0);
    expect([around[0], around.at(-1)]).toEqual([7, 7]);
    using whole = await host(bytes);
    await file.copy(offset, whole);
    expect(Buffer.compare(new Uint8Array(whole.buffer), expected)).toBe(0);
    using larger = await host(bytes + 2);
    await file.copy(offset, new DataView(larger.buffer, 1, bytes));
    expect(Buffer.compare(new Uint8Array(larger.buffer, 1, bytes), expected)).toBe(0);
  });

  // Only the last of these has a page that is gone; in the others the kernel gives zeros.
  test.each([
    [4096 * 100 + 1, 4096 * 100, 100],
    [4096 * 100, 4096 * 100, 1],
    [10, 0, size],
    [0, 4096 * 300, 5],
  ])('cut to %i bytes is an error that names file and byte', async (cut, offset, bytes) => {
    const path = fileOf(content);
    using file = await MappedFile.open(path, { access });
    truncateSync(path, cut);
    const error = { name: 'FileError', code: 'CRT_FILE_CUT', api: 'file.copy', file: path };
    await expect(file.copy(offset, new Uint8Array(bytes))).rejects.toMatchObject({
      ...error,
      byte: cut,
      message: expect.stringContaining(`ends at byte ${cut}, it had ${size}`),
    });
    using to = await host(bytes);
    await expect(file.copy(offset, to)).rejects.toMatchObject({ ...error, byte: cut });
  });

  test('gives what was there before the cut, and all of it once the bytes are back', async () => {
    const path = fileOf(content);
    using file = await MappedFile.open(path, { access });
    truncateSync(path, 5000);
    const piece = new Uint8Array(5000);
    await file.copy(0, piece);
    expect(Buffer.compare(piece, content.subarray(0, 5000))).toBe(0);
    writeFileSync(path, content);
    const whole = new Uint8Array(size);
    await file.copy(0, whole);
    expect(Buffer.compare(whole, content)).toBe(0);
  });

  test('that is empty has no bytes to give', async () => {
    using file = await MappedFile.open(fileOf(new Uint8Array(0)), { access });
    await file.copy(0, new Uint8Array(0));
    const reason = access === 'read' ? 'access' : 'the file is empty';
    expect(file.describe()).toMatchObject({
      bytes: 0,
      access: 'read',
      reason: expect.stringContaining(reason),
    });
  });
});

describe('open names', () => {
  test.each([
    ['a missing file', () => join(directory, 'missing'), 'ENOENT', 'No such file'],
    ['a folder', () => directory, 'EISDIR', 'is a directory, expected a regular file'],
    ['a pipe', pipe, undefined, 'is a pipe, expected a regular file'],
    ['a path through a file', () => join(fileOf(content), 'x'), 'ENOTDIR', 'Not a directory'],
  ])('%s', async (_, path, errno, text) => {
    const file = path();
    const error = { name: 'FileError', code: 'CRT_FILE_OPEN', file, byte: undefined, errno };
    await expect(MappedFile.open(file)).rejects.toMatchObject({
      ...error,
      message: expect.stringContaining(text),
    });
  });
});

function pipe(): string {
  const path = join(directory, `pipe-${count++}`);
  execFileSync('mkfifo', [path]);
  return path;
}
