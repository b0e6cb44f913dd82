import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const manifest = fileURLToPath(new URL('../../cmake/manifest.mjs', import.meta.url));
const header = `/* kernel double_f32 DoubleParams block=256 */
typedef struct DoubleParams {
  const void* x; /* r f32 [count] input */
  void* y;       /* w f32 [count] output */
} DoubleParams;
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'manifest-'));
  mkdirSync(join(folder, 'include'));
  writeFileSync(join(folder, 'include/double.h'), header);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Makes the manifest of a package whose kernel has `bounds` in front of its name. */
function make(bounds: string) {
  const source = join(folder, 'double.cu');
  writeFileSync(
    source,
    `extern "C" __global__ void ${bounds}\n    double_f32(const Params p) {}\n`,
  );
  return spawnSync(process.execPath, [
    manifest,
    ...['--package', 'example', '--headers', join(folder, 'include')],
    ...['--generated', folder, '--manifest', join(folder, 'manifest.json'), '--cpu', 'lib.so'],
    ...['--fatbin', `example.double.fatbin=${source}`],
  ]);
}

test.each(['', '__launch_bounds__(256)', '__launch_bounds__(512, 2)', '__launch_bounds__(kBlock)'])(
  'bounds `%s` allow blocks of 256 threads, or leave it to the load',
  (bounds) => {
    expect(make(bounds).stderr.toString()).toBe('');
    const made = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
    expect(made.kernels[0].block).toEqual([256, 1, 1]);
  },
);

test('a manifest that allows larger blocks than were compiled ends the build', () => {
  const { status, stderr } = make('__launch_bounds__(128, 4)');
  expect(status).not.toBe(0);
  expect(stderr.toString()).toMatch(
    /double\.h:1.*double_f32: blocks of 256 threads.*double\.cu has __launch_bounds__\(128\)/,
  );
});
