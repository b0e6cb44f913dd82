import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BackendName, onEachBackend } from '@altstream/cuda-runtime/testing';
import { afterAll, describe, expect, it } from 'vitest';

const folder = fileURLToPath(new URL('../..', import.meta.url));

function run(backend: BackendName, ...args: readonly string[]) {
  const node = ['--conditions=@altstream/source', '--import', 'tsx', 'bench/moe-block.bench.ts'];
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [...node, '--backend', backend, ...args],
      { cwd: folder },
      (_, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

interface Row {
  readonly case: { readonly shape: string; readonly tokens: number; readonly mode: string };
  readonly us: number;
  readonly floorUs: number;
  readonly samples: number;
  readonly right: boolean;
}

onEachBackend((backend) => {
  const out = mkdtempSync(join(tmpdir(), 'moe-block-bench-'));
  afterAll(() => rmSync(out, { recursive: true }));

  // Under a sanitizer a time says nothing, and the same blocks run in other suites.
  const isTimed = process.env['CUDA_RUNTIME_SANITIZER'] === undefined;
  it.runIf(isTimed)('pnpm bench moe-block: every mode is right, timed and kept', async () => {
    const size = ['--tokens', '1,5', '--layers', '2', '--inputs', '3', '--replays', '6'];
    const { code, stdout, stderr } = await run(backend, ...size, '--no-peers', '--out', out);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/tp4, experts \d+ wide; PyTorch: not compared: /);
    const [saved = ''] = readdirSync(out);
    const { rows, setting } = JSON.parse(readFileSync(join(out, saved), 'utf8'));
    const cases = (rows as Row[]).map(({ case: { shape, tokens, mode } }) => [shape, tokens, mode]);
    const modes = ['off', 'on', 'fused'];
    const perShape = (shape: string) =>
      [1, 5].flatMap((tokens) => modes.map((mode) => [shape, tokens, mode]));
    expect(cases).toEqual([...perShape('tp1'), ...perShape('tp4')]);
    for (const row of rows as Row[]) {
      expect([row.right, row.us > 0, row.floorUs > 0]).toEqual([true, true, true]);
      expect(row.samples).toBeGreaterThanOrEqual(6);
    }
    expect(setting.peers.tp1).toMatchObject({ us: {} });
  });
});

describe('pnpm bench moe-block', () => {
  it.each([
    [['--shapes', 'tp1,tp3'], /--shapes has tp3, expected some of tp1, tp4/],
    [['--tokens', '1,0'], /--tokens is 0, expected a whole number from 1/],
  ])('refuses %j', async (args, says) => {
    const { code, stderr } = await run('cpu', ...args);
    expect([code, stderr]).toEqual([1, expect.stringMatching(says)]);
  });
});
