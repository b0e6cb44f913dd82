// What look-ahead hides of the host's time: decode steps of a model whose passes take some
// milliseconds of the device and no processor, since its kernels start late, one at a time and with
// a step of look-ahead. `floorUs` is the device's own time, of the same passes launched back to
// back without an engine; `us` is the median of five rounds, `p95Us` the slowest of them,
// `hiddenUs` what look-ahead takes off. With `--save` the rows go to bench/results/.
//
//   node --import tsx --conditions=@altstream/source packages/engine/bench/look-ahead.bench.ts

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { type BenchResult, type BenchRow, table } from '@altstream/bench';
import { open, Tensor, Workspace } from '@altstream/cuda-runtime';
import { injectFaults } from '@altstream/cuda-runtime/testing';
import { Engine, type GenerationEvent, MarkovModel } from '../src/index.js';

const vocab = 256;
const tokensEach = 150;
const rounds = 5;
/** By which each of a pass's two kernels starts late. */
const delayMs = 1;

const runtime = await open({ backend: 'cpu', isolated: true });
const logits = new Float32Array(vocab * vocab);
for (let id = 0; id < vocab; id += 1) logits[id * vocab + ((id + 1) % vocab)] = 50;
const model = await MarkovModel.create(runtime, logits, { maxPositions: 2048 });
const rows: BenchRow[] = [];
injectFaults(runtime).delay('embedding_f32', delayMs);
for (const count of [1, 16, 64, 256]) {
  const floorUs = await deviceTime(count);
  const samples = { off: [] as number[], on: [] as number[] };
  let right = true;
  // In turns, so that what else the machine does meets both alike.
  for (let round = 0; round < rounds; round += 1) {
    for (const mode of ['off', 'on'] as const) {
      const measured = await measure(count, mode === 'on');
      right &&= measured.right;
      samples[mode].push(measured.us);
    }
  }
  const [off, on] = [median(samples.off), median(samples.on)];
  for (const mode of ['off', 'on'] as const) {
    const us = mode === 'on' ? on : off;
    const hidden = mode === 'on' ? { hiddenUs: round1(off - on) } : {};
    const facts = { us: round1(us), p95Us: round1(Math.max(...samples[mode])), floorUs, ...hidden };
    rows.push({ case: { rows: count, lookAhead: mode }, right, ...(right ? facts : {}) });
  }
}
model.dispose();
report(rows);
await runtime.dispose();

/** Microseconds of a pass and its sampling, launched back to back. */
async function deviceTime(count: number): Promise<number> {
  const device = runtime.device();
  const stream = device.createStream({ name: 'floor' });
  const workspace = new Workspace(device);
  const column = Tensor.allocate(device, [count], 'i32');
  stream.write(
    column,
    Int32Array.from({ length: count }, (_, row) => row),
  );
  const pageTable = Tensor.allocate(device, [count, 1], 'i32');
  const batch = { tokenIds: column, positions: column, sequenceIds: column, slots: column };
  const cache = model.createCache(1);
  const graph = device.capture(
    () => void model.forward({ ...batch, pageTable, rows: column }, cache, { stream, workspace }),
    { stream },
  );
  const exec = await graph.instantiate();
  const run = async (launches: number): Promise<number> => {
    const started = performance.now();
    for (let launch = 0; launch < launches; launch += 1) exec.launch(stream);
    await stream.synchronize();
    return ((performance.now() - started) * 1000) / launches;
  };
  await run(10);
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await run(50));
  exec.dispose();
  graph.dispose();
  for (const tensor of [column, pageTable]) tensor.dispose();
  workspace.dispose();
  stream.dispose();
  return round1(median(times));
}

/** Microseconds from token to token of all rows. */
async function measure(count: number, lookAhead: boolean) {
  const engine = await Engine.create({
    model,
    lookAhead,
    maxSequences: count,
    graphSizes: [count],
    maxPartialPrefills: count,
    pages: count * 128,
  });
  await Promise.all(Array.from({ length: count }, (_, n) => follow(engine, n, 20)));
  const started = performance.now();
  const all = await Promise.all(
    Array.from({ length: count }, (_, n) => follow(engine, n, tokensEach)),
  );
  const us = ((performance.now() - started) * 1000) / tokensEach;
  const { aheadSteps, isEnabled } = engine.stats().lookAhead;
  await engine.close();
  const isAhead = isEnabled ? aheadSteps > tokensEach / 2 : aheadSteps === 0;
  const right = all.every((ids, n) => ids.every((id, index) => id === (n + index + 1) % vocab));
  return { us, right: right && isAhead };
}

/** Each has a prompt of its own, so that none waits for another's. */
async function follow(engine: Engine, prompt: number, maxTokens: number): Promise<number[]> {
  const ids: number[] = [];
  const events: AsyncIterable<GenerationEvent> = engine.generate([prompt], {
    temperature: 0,
    maxTokens,
  });
  for await (const event of events) if (event.type === 'token') ids.push(event.id);
  return ids;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function round1(value: number): number {
  return Math.round(value * 10) / 10;
}

function report(results: readonly BenchRow[]): void {
  const device = `cpu ${cpus()[0]?.model.trim() ?? 'unknown'}`;
  const result: BenchResult = {
    bench: 'look-ahead',
    device,
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
    command:
      'node --import tsx --conditions=@altstream/source packages/engine/bench/look-ahead.bench.ts --save',
    date: new Date().toISOString().slice(0, 10),
    ceilings: { loadAverage: round1(loadavg()[0] ?? 0) },
    rows: results,
  };
  process.stdout.write(`${table(result)}\n`);
  if (results.some(({ right }) => !right)) process.exitCode = 1;
  if (!process.argv.includes('--save')) return;
  const folder = new URL('./results/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  const name = device.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  writeFileSync(new URL(`${name}-look-ahead.json`, folder), `${JSON.stringify(result, null, 2)}\n`);
}
