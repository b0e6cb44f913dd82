import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { probeSync } from '../probe.js';

const vitest = join(
  dirname(createRequire(import.meta.url).resolve('vitest/package.json')),
  'vitest.mjs',
);
const folder = fileURLToPath(new URL('../../test/fixtures/each-backend', import.meta.url));
const cuda = probeSync().find(({ backend }) => backend === 'cuda');
const reason = `${cuda?.reason}, ${cuda?.detail.split('\n')[0]}`;

describe.skipIf(cuda?.usable)('describeEachBackend without CUDA', () => {
  test('skips and says why', () => {
    const { status, output } = run('0');
    expect(output).toMatch(/Tests .*1 skipped/);
    expect(output).toContain(reason);
    expect(status).toBe(0);
  });

  test('fails with the reason where CUDA is required', () => {
    const { status, output } = run('1');
    expect(output).toContain(`CUDA is required (CUDA_RUNTIME_REQUIRE_CUDA=1): ${reason}`);
    expect(output).toMatch(/Tests .*1 failed/);
    expect(status).toBe(1);
  });
});

describe.runIf(cuda?.usable)('describeEachBackend with CUDA', () => {
  test('runs there and skips nothing where CUDA is required', () => {
    const { status, output } = run('1');
    expect(output).toContain('nothing on cuda');
    expect(output).not.toContain('skipped');
    expect(status).toBe(0);
  });
});

function run(required: string): { status: number | null; output: string } {
  const args = [vitest, 'run', '--reporter=verbose', `--root=${folder}`];
  const env = { ...process.env, CUDA_RUNTIME_REQUIRE_CUDA: required, NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}
