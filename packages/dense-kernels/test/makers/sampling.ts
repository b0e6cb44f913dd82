import type { Stream } from '@altstream/cuda-runtime';
import { seededRandom, upload } from '@altstream/cuda-runtime/testing';
import type { SampleInput } from '../../src/index.js';
import type { SamplingCase } from '../cases/sampling.js';
import type { ReferenceSettings } from '../reference/sampling.js';

/** One row of the batch, on the host. */
export interface HostRow {
  readonly logits: Float32Array;
  readonly settings: ReferenceSettings;
  readonly seed: bigint;
  /** Negative = padding. */
  readonly position: number;
}

/** Rows of a case: own logits, own seed, own position. */
export function makeRows(testCase: SamplingCase, seed: number): HostRow[] {
  const random = seededRandom(seed);
  return Array.from({ length: testCase.rows }, (_, row) => ({
    logits: makeLogits(testCase, random),
    settings: testCase.settings,
    seed: (BigInt(random.integer(-(2 ** 31), 2 ** 31)) << 32n) ^ BigInt(row),
    position: random.integer(0, 2 ** 31 - 1),
  }));
}

function makeLogits(
  { vocab, logits: kind }: SamplingCase,
  random: ReturnType<typeof seededRandom>,
): Float32Array {
  const logits = Float32Array.from(random.floats(vocab, 1), () => 3 * random.normal());
  if (kind === 'tied') {
    // few values, and zeros of both signs, which tie
    return logits.map((value, id) => Math.round(value / 2) || (id % 2 === 0 ? 0 : -0));
  }
  if (kind === 'sparse') {
    const impossible = [Number.NEGATIVE_INFINITY, Number.NaN];
    return logits.map((value, id) => (id % 5 < 2 ? (impossible[id % 2] ?? 0) : value));
  }
  if (kind === 'cluster') return logits.map((value, id) => (id === 4711 ? 30 : value / 1000));
  return logits;
}

/** The rows on the device; `gap` elements of NaN between rows of logits. */
export function uploadRows(
  stream: Stream,
  rows: readonly HostRow[],
  vocab: number,
  gap = 0,
): SampleInput {
  const count = rows.length;
  const wide = new Float32Array(count * (vocab + gap)).fill(Number.NaN);
  for (const [row, { logits }] of rows.entries()) wide.set(logits, row * (vocab + gap));
  const column = (pick: (settings: ReferenceSettings) => number, dtype: 'f32' | 'i32') =>
    upload(
      stream,
      rows.map(({ settings }) => pick(settings)),
      [count],
      dtype,
    );
  const seeds = stream.tensor([count], 'i64');
  stream.write(
    seeds,
    BigInt64Array.from(rows, ({ seed }) => seed),
  );
  return {
    logits: upload(stream, wide, [count, vocab + gap], 'f32').slice(1, 0, vocab),
    temperature: column(({ temperature }) => temperature, 'f32'),
    topK: column(({ topK }) => topK, 'i32'),
    topP: column(({ topP }) => topP, 'f32'),
    minP: column(({ minP }) => minP, 'f32'),
    seeds,
    positions: upload(
      stream,
      rows.map(({ position }) => position),
      [count],
      'i32',
    ),
  };
}
