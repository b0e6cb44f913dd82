import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { chosenFiles, isStressTest, testFiles } from './test-files.js';

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
  [['no such file'], 0],
])('the words %j choose as they do in vitest', (words, count) => {
  expect(chosenFiles(root, files, words)).toHaveLength(count);
});
