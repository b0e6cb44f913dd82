// Bytes of JavaScript's heap that a decode step of the built package allocates. Sources would be
// run with names kept by the loader, which costs more. With `--save` the rows go to bench/results/.
//
//   node --expose-gc --import tsx packages/engine/bench/step-heap.bench.ts

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { BenchResult, BenchRow } from '@altstream/bench';
import { open } from '@altstream/cuda-runtime';
import { Engine, MarkovModel, MockEngine } from '@altstream/engine';
import { measureStepHeap } from '../test/makers/step-heap.js';

const vocab = 256;
const steps = 3200;
const maxPositions = 8192;
const runtime = await open({ backend: 'cpu' });
const logits = new Float32Array(vocab * vocab);
for (let id = 0; id < vocab; id += 1) logits[id * vocab + ((id + 1) % vocab)] = 50;
const model = await MarkovModel.create(runtime, logits, { maxPositions });
const rows: BenchRow[] = [];
for (const count of [1, 8, 64]) {
  const limits = { maxSequences: count, maxPartialPrefills: count };
  const mock = await MockEngine.create({ ...limits, maxPositions });
  rows.push(await measure('mock', mock, count));
  const pages = (count * maxPositions) / 16;
  const engine = await Engine.create({ ...limits, model, graphSizes: [count], pages });
  rows.push(await measure('graph', engine, count));
}
model.dispose();
await runtime.dispose();
if (process.argv.includes('--save')) save(rows);

async function measure(path: string, engine: Engine, count: number): Promise<BenchRow> {
  const { median, p90 } = await measureStepHeap(engine, count, steps);
  await engine.close();
  const bytes = { bytes: Math.round(median), p90Bytes: Math.round(p90) };
  process.stdout.write(
    `${path}, ${count} rows: ${bytes.bytes} bytes a step (p90 ${bytes.p90Bytes})\n`,
  );
  return { case: { rows: count, path }, right: median > 0, ...bytes };
}

function save(results: readonly BenchRow[]): void {
  const device = `cpu ${cpus()[0]?.model.trim() ?? 'unknown'}`;
  const result: BenchResult = {
    bench: 'step-heap',
    device,
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
    command: 'node --expose-gc --import tsx packages/engine/bench/step-heap.bench.ts --save',
    date: new Date().toISOString().slice(0, 10),
    ceilings: {},
    rows: results,
  };
  const folder = new URL('./results/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  const name = device.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  writeFileSync(new URL(`${name}-step-heap.json`, folder), `${JSON.stringify(result, null, 2)}\n`);
}
