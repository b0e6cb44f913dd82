import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { chosenFiles, isStressTest, testFiles, vitestFilters } from './test-files.js';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const files = testFiles(root, ['cuda-runtime', 'minimax-m3-model', 'no-such']);
const tooSmall = 'packages/minimax-m3-model/test/decisions/too-small-device.stress.test.ts';

test('the stress tests of projects are told from the others', () => {
  const stress = files.filter(isStressTest);
  expect(stress).toContain(tooSmall);
  expect(stress).toContain('packages/cuda-runtime/test/workers.stress.test.ts');
  expect(files).toContain('packages/cuda-runtime/test/open.test.ts');
  expect(stress).not.toContain('packages/cuda-runtime/test/open.test.ts');
});

test.each([
  [[], files.length],
  [['too-small-device'], 1],
  [['./packages/minimax-m3-model/test/decisions/too-small'], 1],
  [[`${root}packages/minimax-m3-model/test/decisions/too-small`], 1],
  [[`${tooSmall}:17`], 1],
  [['too-small-device', 'cuda-runtime/test/workers.stress'], 2],
  [['TOO-small-device'], 1],
  [['cuda-runtime/src/testing/conversions'], 1],
])('the words %j choose files by their paths in the workspace', (words, count) => {
  expect(chosenFiles(root, files, words)).toHaveLength(count);
});

test('vitest is given whole paths, since it knows none with the name of a project', () => {
  const open = 'packages/cuda-runtime/test/open.test.ts';
  expect(vitestFilters(root, files, ['cuda-runtime/test/open.'])).toEqual([open]);
  expect(vitestFilters(root, files, [`${root}${open}`, `${open}:17`])).toEqual([
    open,
    `${open}:17`,
  ]);
  expect(vitestFilters(root, files, [])).toEqual([]);
});

test('a word that chooses nothing is named, with what would be one', () => {
  for (const choose of [chosenFiles, vitestFilters]) {
    const call = () => choose(root, files, ['open.test', 'fork-joyn']);
    expect(call).toThrow(
      /no test file has `fork-joyn` in its path, such as packages\/.*\.test\.ts/,
    );
    expect(call).toThrow('e.g. `fork-join` or `cuda-runtime/test/graphs`');
  }
});
