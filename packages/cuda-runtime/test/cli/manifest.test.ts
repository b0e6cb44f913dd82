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

/** Makes the manifest of a package with these CUDA sources, each a fatbin. */
function make(sources: Readonly<Record<string, string>>) {
  const fatbins = Object.entries(sources).flatMap(([name, text]) => {
    writeFileSync(join(folder, `${name}.cu`), text);
    return ['--fatbin', `example.${name}.fatbin=${join(folder, `${name}.cu`)}`];
  });
  const { status, stderr } = spawnSync(process.execPath, [
    manifest,
    ...['--package', 'example', '--headers', join(folder, 'include')],
    ...['--generated', folder, '--manifest', join(folder, 'manifest.json'), '--cpu', 'lib.so'],
    ...fatbins,
  ]);
  return { status, stderr: stderr.toString() };
}

const madeKernel = () =>
  JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')).kernels[0] as object;
const kernel = (bounds = '') =>
  `extern "C" __global__ void ${bounds}\n    double_f32(const Params p) {}\n`;

test.each(['', '__launch_bounds__(256)', '__launch_bounds__(512, 2)', '__launch_bounds__(kBlock)'])(
  'bounds `%s` allow blocks of 256 threads, or leave it to the load',
  (bounds) => {
    expect(make({ double: kernel(bounds) })).toEqual({ status: 0, stderr: '' });
    expect(madeKernel()).toMatchObject({ block: [256, 1, 1] });
  },
);

test('a manifest that allows larger blocks than were compiled ends the build', () => {
  const { status, stderr } = make({ double: kernel('__launch_bounds__(128, 4)') });
  expect(status).not.toBe(0);
  expect(stderr).toMatch(
    /double\.h:1.*double_f32: blocks of 256 threads.*double\.cu has __launch_bounds__\(128\)/,
  );
});

test.each([
  ['spells its name before `(`', { other: 'void a();\n', own: kernel() }, 'own'],
  [
    'defines it, not that which only names it',
    { other: '// double_f32, of the other file\nfor_each(double_f32, 1);\n', own: kernel() },
    'own',
  ],
  ['has the name of its header, if none spells it', { a: 'void a();\n', double: '' }, 'double'],
])('a kernel is in the fatbin of the source that %s', (_, sources, expected) => {
  expect(make(sources)).toEqual({ status: 0, stderr: '' });
  expect(madeKernel()).toMatchObject({ fatbin: `example.${expected}.fatbin` });
});

test.each<[shape: string, sums?: (string | number)[][], divisors?: number[]]>([
  ['[count]', [['count']]],
  ['[rows, 2 * columns]', [['rows'], [2], ['columns']]],
  ['[rows + 1]', [['rows', 1]]],
  ['[rows, (columns + 2)]', [['rows'], ['columns', 2]]],
  ['[rows / 2, columns / 4]', [['rows'], ['columns']], [2, 4]],
  ['[rows, (columns + 31) / 32]', [['rows'], ['columns', 31]], [1, 32]],
  ['[rows * (columns + 2)]'],
  ['[rows * columns / 2]'],
  ['[rows / 0]'],
  ['[pages]'],
  ['[long]'],
  [''],
])('a shape `%s` says how large the memory must be, or nothing', (shape, sums, divisors) => {
  const factors = sums?.map((terms, i) => ({ terms, divisor: divisors?.[i] ?? 1 }));
  const text = `/* kernel shaped ShapedParams */
typedef struct ShapedParams {
  const float* x;  /* r f32 ${shape} input */
  int32_t count;   /* elements */
  int32_t rows;    /* rows */
  int32_t columns; /* columns */
  int64_t long;    /* not an int */
} ShapedParams;
`;
  writeFileSync(join(folder, 'include/double.h'), text);
  expect(make({})).toEqual({ status: 0, stderr: '' });
  expect((madeKernel() as { fields: readonly object[] }).fields[0]).toEqual({
    ...{ name: 'x', type: 'buf', offset: 0, access: 'r', dtype: ['f32'] },
    ...(factors && { extent: { bytes: 4, factors } }),
  });
});
