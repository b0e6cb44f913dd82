// The hang that others met (model specification 8, kernels 3.3): thousands of tokens, routed
// experts on a second stream, programmatic launches, 57 layers in one graph, replayed many times.
// Each case is a process of its own, which ends when it makes no progress; a control without
// programmatic launches comes first.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { probe } from '@altstream/cuda-runtime';
import { describe, expect, it } from 'vitest';
import type { ReplayMany } from '../makers/replay-many.js';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const script = fileURLToPath(new URL('../makers/replay-many.ts', import.meta.url));
/** Without a line for so long a process hangs; the first one takes as long as loading does. */
const stallMs = 45_000;
const startMs = 900_000;
const cuda = (await probe()).find(({ backend }) => backend === 'cuda');

interface Ended {
  readonly code: number | null;
  readonly lines: readonly string[];
  readonly stalledAfter: string | undefined;
}

function replayMany(job: ReplayMany): Promise<Ended> {
  const node = ['--conditions=@altstream/source', '--import', 'tsx', script, JSON.stringify(job)];
  const child = spawn(process.execPath, node, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  return new Promise((resolve) => {
    const lines: string[] = [];
    let stalledAfter: string | undefined;
    const stalled = () => {
      stalledAfter = lines.at(-1) ?? 'nothing';
      child.kill('SIGKILL');
    };
    let watchdog = setTimeout(stalled, startMs);
    for (const output of [child.stdout, child.stderr]) {
      output.setEncoding('utf8').on('data', (text: string) => {
        lines.push(...text.split('\n').filter(Boolean));
        clearTimeout(watchdog);
        watchdog = setTimeout(stalled, stallMs);
      });
    }
    child.on('close', (code) => {
      clearTimeout(watchdog);
      resolve({ code, lines, stalledAfter });
    });
  });
}

async function expectProgress(job: ReplayMany): Promise<void> {
  const { code, lines, stalledAfter } = await replayMany(job);
  expect(stalledAfter, `it hangs; its lines were ${lines.join(', ')}`).toBeUndefined();
  expect([code, lines.at(-1)]).toEqual([0, 'done']);
  expect(lines[0]).toBe('loaded 57 blocks');
  const results = lines.filter((line) => line.startsWith('limit'));
  expect(results).toEqual(job.pdlLimits.map((limit) => `limit ${limit} equal`));
  expect(lines.filter((line) => line === `replay ${job.replays}`)).toHaveLength(results.length);
}

const narrow = {
  hidden_size: 64,
  num_attention_heads: 4,
  intermediate_size: 64,
  shared_intermediate_size: 64,
  dense_intermediate_size: 64,
  vocab_size: 256,
  num_local_experts: 8,
};

describe('57 layers on two streams', () => {
  it.each([1, 9])(
    'on the CPU end with %d tokens, and programmatic launches change no bit',
    async (tokens) => {
      const tensorParallel = { rank: 0, size: 1 };
      // A busy machine needs seconds for a replay, so each one is a sign of life.
      const pace = { replays: 8, waitEvery: 1 };
      const job = { tokens, ...pace, overrides: narrow, tensorParallel } as const;
      await expectProgress({ ...job, backend: 'cpu', pdlLimits: [0, tokens, -1] });
    },
    300_000,
  );

  // One rank of eight, as in the report: experts 384 wide, 50 GiB of weights.
  const sizes = [
    { tokens: 1, replays: 1000 },
    { tokens: 8, replays: 1000 },
    { tokens: 4096, replays: 200 },
    { tokens: 4097, replays: 200 },
    { tokens: 7680, replays: 1000 },
    { tokens: 8193, replays: 200 },
  ];
  it.skipIf(!cuda?.usable).each(sizes)(
    `on CUDA end with $tokens tokens and $replays replays${cuda?.usable ? '' : ` (no CUDA: ${cuda?.detail})`}`,
    async ({ tokens, replays }) => {
      const tensorParallel = { rank: 0, size: 8 };
      const pace = { replays, waitEvery: 10 };
      const job = { backend: 'cuda', tokens, ...pace, overrides: {}, tensorParallel } as const;
      // Off, the built-in limit of the architecture, and without one.
      await expectProgress({ ...job, pdlLimits: [0, 8192, -1] });
    },
    3_600_000,
  );
});
