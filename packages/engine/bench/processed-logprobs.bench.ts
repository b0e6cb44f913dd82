// What processed log-probabilities cost the host: processor time of one row of the real
// vocabulary. With `--save` the rows go to bench/results/ in the format that tools/bench compares.
//
//   node --import tsx --conditions=@altstream/source \
//     packages/engine/bench/processed-logprobs.bench.ts

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { type BenchResult, type BenchRow, table, watchMachine } from '@altstream/bench';
import { seededRandom } from '@altstream/cuda-runtime/testing';
import { processedLogprobs } from '../src/logprobs/processed-logprobs.js';
import { drawnLogprobs, logprobTolerance } from '../test/makers/drawn-distribution.js';

const vocab = 200_064;
const runs = 60;
const random = seededRandom(1);
/** `spread`: much of the vocabulary is likely. `peaked`: fifty ids have nearly all probability. */
const logitsOf: Record<string, Float32Array> = {
  spread: random.floats(vocab, 3),
  peaked: random.floats(vocab, 2).map((x, id) => (id % 4000 === 0 ? x + 18 : x)),
};
const draws = {
  greedy: { temperature: 0 },
  temperature: {},
  'top-k 40': { topK: 40 },
  'top-p 0.9': { topP: 0.9 },
  'min-p 0.05': { minP: 0.05 },
  all: { temperature: 0.8, topK: 1000, topP: 0.95, minP: 0.01 },
};
const off = { temperature: 1, topK: 0, topP: 1, minP: 0 };

const load = watchMachine();
const rows = Object.keys(logitsOf).flatMap((logits) =>
  Object.keys(draws).map((draw) => measure(logits, draw as keyof typeof draws)),
);
report();

function measure(name: string, draw: keyof typeof draws): BenchRow {
  const logits = logitsOf[name] ?? new Float32Array();
  const settings = { ...off, ...draws[draw] };
  const expected = drawnLogprobs(logits, settings);
  const id = expected.findIndex((value) => value > Number.NEGATIVE_INFINITY);
  const row = { ...settings, id, count: 20 };
  const { logprob, top } = processedLogprobs(logits, row);
  const right = [{ id, logprob }, ...top].every((one) => {
    const value = expected[one.id] ?? Number.NaN;
    const isNear = Math.abs(one.logprob - value) <= logprobTolerance(value);
    return isNear || one.logprob === value;
  });
  if (!right) return { case: { logits: name, draw }, right };
  const times = Array.from({ length: runs }, () => {
    const { user, system } = process.cpuUsage();
    processedLogprobs(logits, row);
    const after = process.cpuUsage({ user, system });
    return after.user + after.system;
  }).sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(runs * share)] ?? Number.NaN;
  return { case: { logits: name, draw }, right, us: at(0.5), p95Us: at(0.95) };
}

function report(): void {
  const device = `cpu ${cpus()[0]?.model.trim() ?? 'unknown'}`;
  const result: BenchResult = {
    bench: 'processed-logprobs',
    device,
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
    command:
      'node --import tsx --conditions=@altstream/source packages/engine/bench/processed-logprobs.bench.ts --save',
    date: new Date().toISOString().slice(0, 10),
    ceilings: { loadAverage: load().load },
    rows,
  };
  process.stdout.write(`${table(result)}\n`);
  if (rows.some(({ right }) => !right)) process.exitCode = 1;
  if (!process.argv.includes('--save')) return;
  const folder = new URL('./results/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  const name = device.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const file = new URL(`${name}-processed-logprobs.json`, folder);
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
}
