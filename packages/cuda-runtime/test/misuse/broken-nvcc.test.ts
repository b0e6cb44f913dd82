import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';

const run = promisify(execFile);
const kernels = fileURLToPath(new URL('../kernels', import.meta.url));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nvcc-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function configure(nvcc: string): Promise<string> {
  const path = join(folder, 'nvcc');
  writeFileSync(path, nvcc);
  chmodSync(path, 0o755);
  const options = ['-S', kernels, '-B', join(folder, 'build'), `-DNVCC=${path}`];
  return (await run('cmake', options)).stdout;
}

const fatbins = /fatbins skipped/g;

test.each([
  ['exits with an error', '#!/bin/sh\nexit 3\n', /nvcc does not run \(3\)/],
  ['is no program', '\x7fELF', /nvcc does not run \(.+\)/],
])('an nvcc that %s counts as absent, in one line', async (_, nvcc, reason) => {
  const output = await configure(nvcc);
  expect(output).toMatch(reason);
  expect(output.match(fatbins)).toHaveLength(1);
});

test('an nvcc that runs is used', async () => {
  expect(await configure('#!/bin/sh\nexit 0\n')).not.toMatch(fatbins);
});
