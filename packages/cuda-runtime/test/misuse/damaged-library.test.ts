import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KernelImageError, open, type Runtime } from '../../src/index.js';

const built = fileURLToPath(new URL('../../build/Release/test_kernels/', import.meta.url));
const name = 'libtest_kernels_cpu.so';
const whole = readFileSync(join(built, name));
let runtime: Runtime;
let root: string;
let count = 0;

beforeAll(async () => {
  runtime = await open({ backend: 'cpu', isolated: true });
  root = mkdtempSync(join(tmpdir(), 'damaged-'));
});
afterAll(async () => {
  await runtime.dispose();
  rmSync(root, { recursive: true });
});

/** The manifest of the test kernels in a folder of its own, beside a library of these bytes. */
function manifestBeside(library: Uint8Array | undefined): string {
  const folder = join(root, String(count++));
  mkdirSync(folder);
  copyFileSync(join(built, 'manifest.json'), join(folder, 'manifest.json'));
  if (library) writeFileSync(join(folder, name), library);
  return join(folder, 'manifest.json');
}

function changed(change: (view: DataView) => void): Uint8Array {
  const copy = Uint8Array.from(whole);
  change(new DataView(copy.buffer));
  return copy;
}

const programHeaders = Number(whole.readBigUInt64LE(32));

const cuts = [0, 1, 4, 63, 64, 200, 1000, 4096, 5000, 8192, whole.length >> 1, whole.length - 1];

test.each(cuts)('a library cut after %i bytes is refused before it is mapped', async (length) => {
  const manifest = manifestBeside(whole.subarray(0, length));
  const error: unknown = await runtime.loadModule({ manifest }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(KernelImageError);
  expect(error).toMatchObject({ code: 'CRT_BAD_KERNEL_IMAGE', api: 'runtime.loadModule' });
  expect(String(error)).toContain(name);
  expect(String(error)).toMatch(new RegExp(`\\b${length} bytes.*pnpm run build:native`, 's'));
});

test.each<[string, Uint8Array, RegExp]>([
  ['text', Buffer.from('kernels '.repeat(1000)), /is not an ELF file/],
  ['a 32-bit library', changed((view) => view.setUint8(4, 1)), /not a 64-bit .* class 1/],
  ['another machine', changed((view) => view.setUint16(18, 8, true)), /is for ELF machine 8/],
  ['an object file', changed((view) => view.setUint16(16, 1, true)), /not a shared library/],
  ['no segments', changed((view) => view.setUint16(56, 0, true)), /has 0 program headers/],
  [
    'segments behind 2^64',
    changed((view) => view.setBigUint64(32, 2n ** 64n - 8n, true)),
    /the program header table ends at byte 2\^64/,
  ],
  [
    'a segment behind the end',
    changed((view) => view.setBigUint64(programHeaders + 32, 2n ** 40n, true)),
    /a segment ends at byte 1099511627776/,
  ],
])('%s is refused with its reason', async (_, library, reason) => {
  const load = runtime.loadModule({ manifest: manifestBeside(library) });
  await expect(load).rejects.toMatchObject({
    code: 'CRT_BAD_KERNEL_IMAGE',
    message: expect.stringMatching(reason),
  });
});

test('a library that is missing or a folder is told from a damaged one', async () => {
  const missing = manifestBeside(undefined);
  const folder = manifestBeside(undefined);
  mkdirSync(join(folder, '..', name));
  for (const manifest of [missing, folder]) {
    await expect(runtime.loadModule({ manifest })).rejects.toMatchObject({
      code: 'CRT_NO_KERNEL_IMAGE',
      message: expect.stringContaining(`${name} cannot be read`),
    });
  }
});

test('the whole library in the same place loads', async () => {
  const module = await runtime.loadModule({ manifest: manifestBeside(whole) });
  expect(module.kernel('test_add').name).toBe('test_add');
});
