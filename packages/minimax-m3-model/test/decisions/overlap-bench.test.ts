import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BackendName, onEachBackend } from '@altstream/cuda-runtime/testing';
import { afterAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const bench = fileURLToPath(new URL('../../bench/overlap.bench.ts', import.meta.url));

function run(backend: BackendName, ...args: readonly string[]) {
  const node = ['--conditions=@altstream/source', '--import', 'tsx', bench, '--backend', backend];
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [...node, ...args],
      { cwd: root },
      (_, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

interface Row {
  readonly case: { readonly what: string; readonly batch: number; readonly mode: string };
  readonly us: number;
  readonly samples: number;
  readonly savedPercent: number;
  readonly tokensPerSecondPerUser?: number;
  readonly way?: string;
  readonly measured?: object;
  readonly right: boolean;
}

onEachBackend((backend) => {
  const out = mkdtempSync(join(tmpdir(), 'overlap-bench-'));
  afterAll(() => rmSync(out, { recursive: true }));

  // Under a sanitizer a time says nothing, and the same passes run in other suites.
  const isTimed = process.env['CUDA_RUNTIME_SANITIZER'] === undefined;
  it.runIf(isTimed)(
    'pnpm bench:overlap on a small model: every mode is right and timed in one run; plot, traces and rows are kept',
    async () => {
      const size = ['--layers', '4', '--batches', '1,3', '--context', '2200', '--rank', '1/2'];
      const effort = ['--steps', '12', '--prefill', '40', '--prefill-steps', '2'];
      const { code, stderr } = await run(backend, ...size, ...effort, '--out', out);
      expect([code, stderr]).toEqual([0, '']);
      const files = readdirSync(out);
      const saved = files.find((name) => name.endsWith('-overlap.json')) ?? 'none';
      const { rows, setting } = JSON.parse(readFileSync(join(out, saved), 'utf8'));
      const cases = (rows as Row[]).map(({ case: one }) => `${one.what} ${one.batch} ${one.mode}`);
      const modes = ['off', 'on', 'fused', 'auto', 'without'];
      expect(cases).toEqual([
        ...[1, 3].flatMap((batch) => modes.map((mode) => `decode ${batch} ${mode}`)),
        'prefill 1 off',
        'prefill 1 on',
      ]);
      for (const row of rows as Row[]) {
        expect([row.right, row.us > 0]).toEqual([true, true]);
        const off = (rows as Row[]).find(
          ({ case: { what, batch, mode } }) =>
            what === row.case.what && batch === row.case.batch && mode === 'off',
        );
        expect(row.savedPercent).toBeCloseTo((1 - row.us / (off?.us ?? 0)) * 100);
        const isDecode = row.case.what === 'decode';
        expect(row.tokensPerSecondPerUser).toEqual(
          isDecode ? expect.closeTo(1e6 / row.us) : undefined,
        );
        expect(row.samples).toBeGreaterThanOrEqual(isDecode ? 12 : 2);
        if (row.case.mode !== 'auto') continue;
        expect(row.way).toMatch(/^(separate|serial|fused)$/);
        const us = expect.any(Number);
        const times = { separateUs: us, serialUs: us, fusedUs: us };
        expect(row.measured).toMatchObject({
          tokens: row.case.batch,
          ...times,
          chosen: row.way,
          why: expect.any(String),
        });
      }
      expect(setting.describe.outputs).toMatch(/random, and rank 1 of 2 runs without the others/);
      expect(files).toContain('overlap-decode.svg');
      const streamsOf = (mode: string) => {
        const { traceEvents } = JSON.parse(
          readFileSync(join(out, `overlap-layer-${mode}.trace.json`), 'utf8'),
        ) as { traceEvents: { ph: string; name: string; tid: number; cat?: string }[] };
        const spans = traceEvents.filter(
          ({ ph, name }) => ph === 'X' && /_(f32|bf16)|topk/.test(name),
        );
        return new Set(spans.map(({ tid }) => tid)).size;
      };
      expect([streamsOf('off'), streamsOf('on')]).toEqual([1, 2]);
    },
  );
});

describe('pnpm bench:overlap', () => {
  it.each([
    [['--batches', '1,x'], /--batches is x, expected a whole number from 1/],
    [['--modes', 'on,both'], /--modes has both, expected some of off, on, fused, auto/],
    [['--rank', '4/4'], /--rank is 4\/4, expected RANK\/SIZE/],
    [['--override', 'layers=3'], /no such field; it has /],
    [['--batches', '1000000'], /pages take .* are free: use a smaller --batches or --context/],
  ])('refuses %j', async (args, says) => {
    const { code, stderr } = await run('cpu', ...args);
    expect([code, stderr]).toEqual([1, expect.stringMatching(says)]);
  });
});
