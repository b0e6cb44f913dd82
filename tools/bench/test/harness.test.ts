import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Stream } from '@altstream/cuda-runtime';
import { afterEach, expect, it } from 'vitest';
import type { BenchCase, BenchResult } from '../src/bench-case.js';
import { runBench } from '../src/run-bench.js';

const bytes = 2 ** 20;
const given = process.argv;

/** Fills memory with sevens; right if it is checked for `value` and that is seven. */
function fillCase(value: number): BenchCase {
  return {
    case: { value },
    bytes,
    flops: 3 * bytes,
    tokens: 5,
    prepare: async (stream: Stream) => {
      const tensor = stream.tensor([bytes], 'u8');
      const bare = stream.tensor([bytes], 'u8');
      return {
        run: () => stream.fill(tensor, 7),
        peers: { twice: () => stream.fill(bare, 1).fill(bare, 2) },
        check: async () => {
          const read = new Uint8Array(bytes);
          await stream.read(tensor, read);
          if (read[bytes - 1] !== value) throw new Error(`${read[bytes - 1]}, expected ${value}`);
        },
      };
    },
  };
}

async function run(cases: readonly BenchCase[]): Promise<BenchResult | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  process.argv = ['node', 'fill.bench.ts', '--backend', 'cpu', '--threads', '1', '--save'];
  await runBench({ bench: 'fill', from: pathToFileURL(join(folder, 'fill.bench.ts')).href }, cases);
  if (!readdirSync(folder).includes('results')) return undefined;
  const [file = ''] = readdirSync(join(folder, 'results'));
  expect(file).toMatch(/-x1-fill\.json$/);
  return JSON.parse(readFileSync(join(folder, 'results', file), 'utf8'));
}

afterEach(() => {
  process.argv = given;
  process.exitCode = undefined;
});

it('a bench on the CPU backend is checked, timed, held against its ceiling and saved', async () => {
  const result = await run([fillCase(7)]);
  const tbps = result?.ceilings?.['copyTBps'] ?? 0;
  const row = result?.rows[0];
  const us = row?.us ?? 0;
  expect(result).toMatchObject({
    bench: 'fill',
    device: expect.stringMatching(/ x1$/),
    command: expect.stringMatching(/bench\/fill\.bench\.ts --backend cpu --threads 1 --save$/),
  });
  expect(result?.load).toBeGreaterThanOrEqual(0);
  expect(row?.right).toBe(true);
  expect(row?.floorUs).toBeCloseTo(bytes / tbps / 1e6, 6);
  expect(row?.gbps).toBeCloseTo(bytes / us / 1e3, 6);
  expect(row?.gflops).toBeCloseTo((3 * bytes) / us / 1e3, 6);
  expect(row?.tokensPerSecond).toBeCloseTo(5e6 / us, 3);
  expect(row?.peers?.['twice']).toBeGreaterThan(0);
});

it('a wrong row fails the process and saves nothing', async () => {
  expect(await run([fillCase(7), fillCase(8)])).toBeUndefined();
  expect(process.exitCode).toBe(1);
});
