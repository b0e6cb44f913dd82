import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nativeReport } from './native-report.mjs';

it('counts what the native build made, and says why there are no fatbins', () => {
  const packages = mkdtempSync(join(tmpdir(), 'native-'));
  const release = join(packages, 'cuda-runtime/build/Release');
  mkdirSync(join(release, 'test_kernels'), { recursive: true });
  mkdirSync(join(packages, 'engine'));
  writeFileSync(join(release, 'cuda_runtime.node'), '');
  writeFileSync(join(release, 'test_kernels/libtest_kernels_cpu.so'), '');
  expect(nativeReport(packages)).toBe(
    'native: 1 addon, 1 CPU libraries, no fatbins, since no working nvcc was found',
  );
  writeFileSync(join(release, 'test_kernels/timing.fatbin'), '');
  expect(nativeReport(packages)).toBe('native: 1 addon, 1 CPU libraries, 1 fatbins');
});
