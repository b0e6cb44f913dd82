// `pnpm bench:overlap`: what running shared and routed experts side by side saves. Decode and
// prefill of a model that is as large as the real one (or one rank of it), with random weights and
// a cache that is filled with random keys: overlap off, on, shared expert fused, automatic choice,
// and without a shared expert, in turns in one run. Without flags a GPU runs rank 0 of 4 of the
// 60-layer MiniMax-M3; a CPU runs a small model, as a test of this file. Flags:
// bench/overlap/options.ts; with `--save` or `--out FOLDER` also a plot and the traces of one
// layer.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type BenchRow,
  plotSvg,
  report,
  runOptions,
  type Series,
  watchMachine,
} from '@altstream/bench';
import { open, type Runtime } from '@altstream/cuda-runtime';
import { MiniMaxM3Model } from '../src/index.js';
import { traceLayer } from './overlap/layer-trace.js';
import { makeVariants, measureDecode, measurePrefill, type Subject } from './overlap/measure.js';
import { harnessArguments, type OverlapOptions, overlapOptions } from './overlap/options.js';
import { fillCache } from './overlap/step-inputs.js';

const given = process.argv.slice(2);
const harness = runOptions(harnessArguments(given));
const machine = watchMachine();
const tell = (text: string) => void process.stdout.write(`${text}\n`);
// An eager pass of 60 layers is more operations than the default lets wait.
const runtime = await open({ ...harness.open, maxPending: 16_384 });
try {
  const options = overlapOptions(given, runtime);
  const model = await loadModel(runtime, options);
  const rows = await measure(model, options);
  const setting = { ...options, describe: model.describe() };
  const { save, out } = harness;
  const facts = { bench: 'overlap', from: import.meta.url, runtime, ceilings: {}, rows, setting };
  report({ ...facts, machine: machine(), save, out });
  if (rows.some(({ right }) => !right)) process.exitCode = 1;
  model.dispose();
} finally {
  await runtime.dispose();
}

async function loadModel(runtime: Runtime, options: OverlapOptions): Promise<MiniMaxM3Model> {
  const { model: directory, overrides, rank, seed } = options;
  const model = await MiniMaxM3Model.load({
    runtime,
    directory,
    loadFormat: 'dummy',
    overrides,
    seed,
    ...(rank.size > 1 && { tensorParallel: rank }),
  });
  const { deviceBytes, seconds } = model.report;
  const layers = `${model.config.layers.length} layers, ${(deviceBytes / 2 ** 30).toFixed(2)} GiB`;
  tell(
    `${directory}, rank ${rank.rank} of ${rank.size}: ${layers}, made in ${seconds.toFixed(1)} s`,
  );
  return model;
}

async function measure(model: MiniMaxM3Model, options: OverlapOptions): Promise<BenchRow[]> {
  const { batches, context, prefill, seed } = options;
  const perSequence = Math.ceil(context / model.pageTokens);
  const pages = Math.max(Math.max(...batches) * perSequence, Math.ceil(prefill / model.pageTokens));
  const wanted = `${pages} pages take ${gib(pages * model.pageBytes)}`;
  if (pages * model.pageBytes > model.device.freeBytes) {
    throw new Error(
      `${wanted}, ${gib(model.device.freeBytes)} are free: use a smaller --batches or --context`,
    );
  }
  const stream = model.device.createStream({ name: 'main' });
  const cache = model.createCache(pages);
  await fillCache(cache, stream, seed);
  tell(`${wanted}: ${Math.max(...batches)} sequences of ${context} tokens`);
  const models = await makeVariants(model, options, tell);
  const subject: Subject = { models, cache, stream, options };
  const rows: BenchRow[] = [];
  for (const batch of [...batches].sort((a, b) => b - a)) {
    const decoded = await measureDecode(subject, batch);
    rows.unshift(...decoded);
    tell(`${batch} sequences: ${decoded.map(millisecondsOf).join(', ')}`);
  }
  try {
    rows.push(...(await measurePrefill(subject)));
  } catch (error) {
    // What decode took is worth keeping.
    tell(`prefill: ${error instanceof Error ? error.message : String(error)}`);
    rows.push({ case: { what: 'prefill', batch: 1, context: prefill }, right: false });
  }
  await saveDrawings(subject, rows);
  cache.dispose();
  stream.dispose();
  return rows;
}

function millisecondsOf({ case: { mode }, us }: BenchRow): string {
  return `${mode} ${us === undefined ? 'wrong' : `${(us / 1000).toFixed(3)} ms`}`;
}

/** The plot and the traces, in `docs/` with `--save`, and in the folder of `--out`. */
async function saveDrawings({ models, cache, options }: Subject, rows: BenchRow[]): Promise<void> {
  const folders = [
    ...(harness.save ? [fileURLToPath(new URL('../docs', import.meta.url))] : []),
    ...(harness.out === undefined ? [] : [harness.out]),
  ];
  if (folders.length === 0) return;
  const files = new Map([['overlap-decode.svg', plot(rows)]]);
  for (const mode of ['off', 'on'] as const) {
    const model = models.get(mode);
    const size = { batch: Math.min(...options.batches), context: options.context };
    const trace = model && (await traceLayer(model, cache, size));
    if (!trace) continue;
    files.set(`overlap-layer-${mode}.trace.json`, trace.perfetto);
    files.set(`overlap-layer-${mode}.svg`, trace.svg);
  }
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true });
    for (const [name, content] of files) writeFileSync(join(folder, name), content);
    tell(`${folder}: ${[...files.keys()].join(', ')}`);
  }
}

function plot(rows: readonly BenchRow[]): string {
  const decode = rows.filter((row) => row.case['what'] === 'decode' && row.us !== undefined);
  const names = [...new Set(decode.map((row) => String(row.case['mode'])))];
  const series = names.map((name): Series => {
    const own = decode.filter((row) => row.case['mode'] === name);
    const points = own.map((row) => ({ x: Number(row.case['batch']), y: (row.us ?? 0) / 1000 }));
    return { name, points };
  });
  const title = `decode at ${decode[0]?.case['context']} tokens: shared beside routed experts`;
  return plotSvg(series, { title, xLabel: 'batch', yLabel: 'ms per token, median' });
}

function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(2)} GiB`;
}
