// Prefill and decode speed of T128 through the engine, and over HTTP with clients that stream. With
// `--save` the rows go to bench/results/ in the format that tools/bench compares. HTTP rows run the
// built server, so build it first.
//
//   node --import tsx --conditions=@altstream/source apps/server/bench/serving.bench.ts

import { makeModelFolder } from '../test/makers/model-folder.js';
import { EngineLoad } from './engine-load.js';
import { HttpLoad } from './http-load.js';
import { saveRows } from './save-rows.js';
import type { ServingLoad } from './serving-load.js';

interface Row {
  readonly case: {
    readonly through: 'engine' | 'http';
    readonly phase: 'prefill' | 'decode';
    readonly streams: number;
  };
  readonly right: boolean;
  /** Median of the time of one prompt, or between two tokens of a stream. */
  readonly us?: number;
  readonly tokensPerSecond?: number;
}

const promptTokens = 512;
const decodeTokens = 128;
const repeats = 3;

const folder = await makeModelFolder('T128', { mxfp8: true });
const rows: Row[] = [];
for (const load of [await EngineLoad.start(folder.path), await HttpLoad.start(folder.path)]) {
  for (const streams of [1, 4]) {
    rows.push(await prefill(load, streams), await decode(load, streams));
  }
  await load.close();
}
folder.remove();
report(rows);

/** Prompts at once, one token each: the time to the first token is the prefill. */
async function prefill(load: ServingLoad, streams: number): Promise<Row> {
  const seconds = await timed(load, streams, promptTokens, 1);
  return {
    case: { through: load.name, phase: 'prefill', streams },
    right: load.isRight,
    us: Math.round(seconds * 1e6),
    tokensPerSecond: Math.round((streams * promptTokens) / seconds),
  };
}

async function decode(load: ServingLoad, streams: number): Promise<Row> {
  const first = await timed(load, streams, 8, 1);
  const all = await timed(load, streams, 8, decodeTokens);
  const seconds = all - first;
  return {
    case: { through: load.name, phase: 'decode', streams },
    right: load.isRight,
    us: Math.round((seconds / (decodeTokens - 1)) * 1e6),
    tokensPerSecond: Math.round((streams * (decodeTokens - 1)) / seconds),
  };
}

/** Median seconds that `streams` requests take together. */
async function timed(
  load: ServingLoad,
  streams: number,
  prompt: number,
  tokens: number,
): Promise<number> {
  const times: number[] = [];
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    const started = performance.now();
    await Promise.all(
      Array.from({ length: streams }, (_, stream) => load.run(stream, prompt, tokens)),
    );
    times.push((performance.now() - started) / 1000);
  }
  return times.sort((a, b) => a - b)[Math.floor(repeats / 2)] ?? Number.NaN;
}

function report(results: readonly Row[]): void {
  const names = ['through', 'phase', 'streams', 'us', 'tokens/s'];
  const line = (cells: readonly unknown[]): string =>
    cells.map((cell) => String(cell).padStart(10)).join(' ');
  const lines = results.map(({ case: one, us, tokensPerSecond, right }) =>
    line([one.through, one.phase, one.streams, right ? us : 'WRONG', tokensPerSecond ?? '']),
  );
  process.stdout.write(`${[line(names), ...lines].join('\n')}\n`);
  if (results.some(({ right }) => !right)) process.exitCode = 1;
  if (process.argv.includes('--save')) saveRows('serving', results);
}
