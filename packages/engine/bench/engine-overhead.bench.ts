// What the engine itself costs: decode steps of a model that costs next to nothing. With `--save`
// the rows go to bench/results/ in the format that tools/bench compares.
//
//   node --import tsx --conditions=@altstream/source packages/engine/bench/engine-overhead.bench.ts

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { type BenchResult, type BenchRow, table } from '@altstream/bench';
import { open, type Runtime } from '@altstream/cuda-runtime';
import { Engine, type GenerationEvent, MarkovModel } from '../src/index.js';

const vocab = 256;
const tokensEach = 1000;

const runtime = await open({ backend: 'cpu' });
const logits = new Float32Array(vocab * vocab);
for (let id = 0; id < vocab; id += 1) logits[id * vocab + ((id + 1) % vocab)] = 50;
const model = await MarkovModel.create(runtime, logits, { maxPositions: 2048 });
const rows: BenchRow[] = [];
for (const count of [1, 8, 64]) {
  for (const path of ['graph', 'eager'] as const) rows.push(await measure(count, path));
}
model.dispose();
report(runtime, rows);
await runtime.dispose();

async function measure(count: number, path: 'graph' | 'eager'): Promise<BenchRow> {
  const engine = await Engine.create({
    model,
    maxSequences: count,
    graphSizes: path === 'graph' ? [count] : [],
    maxPartialPrefills: count,
    pages: count * 128,
  });
  await Promise.all(Array.from({ length: count }, (_, n) => follow(engine, n, 100)));
  const started = performance.now();
  const all = await Promise.all(
    Array.from({ length: count }, (_, n) => follow(engine, n, tokensEach)),
  );
  const seconds = (performance.now() - started) / 1000;
  await engine.close();
  const right = all.every(({ ids }, n) => ids.every((id, index) => id === (n + index + 1) % vocab));
  if (!right) return { case: { rows: count, path }, right };
  const gaps = (all[0]?.gapsUs ?? []).sort((a, b) => a - b);
  const at = (share: number): number => gaps[Math.floor(gaps.length * share)] ?? Number.NaN;
  return {
    case: { rows: count, path },
    right,
    us: round(at(0.5)),
    p95Us: round(at(0.95)),
    tokensPerSecond: Math.round((count * tokensEach) / seconds),
  };
}

/** Each has a prompt of its own, so that none waits for another's. */
async function follow(engine: Engine, prompt: number, maxTokens: number) {
  const ids: number[] = [];
  const gapsUs: number[] = [];
  let last = Number.NaN;
  const events: AsyncIterable<GenerationEvent> = engine.generate([prompt], {
    temperature: 0,
    maxTokens,
  });
  for await (const event of events) {
    if (event.type !== 'token') continue;
    ids.push(event.id);
    const now = performance.now();
    if (!Number.isNaN(last)) gapsUs.push((now - last) * 1000);
    last = now;
  }
  return { ids, gapsUs };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function report({ backend }: Runtime, results: readonly BenchRow[]): void {
  const device = `${backend} ${cpus()[0]?.model.trim() ?? 'unknown'}`;
  const result: BenchResult = {
    bench: 'engine-overhead',
    device,
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
    command:
      'node --import tsx --conditions=@altstream/source packages/engine/bench/engine-overhead.bench.ts --save',
    date: new Date().toISOString().slice(0, 10),
    ceilings: {},
    rows: results,
  };
  process.stdout.write(`${table(result)}\n`);
  if (results.some(({ right }) => !right)) process.exitCode = 1;
  if (!process.argv.includes('--save')) return;
  const folder = new URL('./results/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  const name = device.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  writeFileSync(
    new URL(`${name}-engine-overhead.json`, folder),
    `${JSON.stringify(result, null, 2)}\n`,
  );
}
