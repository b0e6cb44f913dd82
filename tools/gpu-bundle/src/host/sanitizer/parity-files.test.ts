import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parityFiles } from './parity-files.js';

const root = fileURLToPath(new URL('../../../../..', import.meta.url));

test('files with suites for each backend are found, others and stress tests are not', () => {
  const files = parityFiles(root, ['cuda-runtime', 'dense-kernels', 'no-such']);
  expect(files).toContain('packages/cuda-runtime/test/lifetimes.test.ts');
  expect(files).toContain('packages/dense-kernels/test/rms-norm.parity.test.ts');
  expect(parityFiles(root, ['minimax-m3-model', 'server'])).toEqual(
    expect.arrayContaining([
      'packages/minimax-m3-model/test/model.golden.test.ts',
      'apps/server/test/goldens.e2e.test.ts',
    ]),
  );
  expect(files).not.toContain('packages/cuda-runtime/test/open.test.ts');
  expect(files.filter((file) => file.includes('stress'))).toEqual([]);
});
