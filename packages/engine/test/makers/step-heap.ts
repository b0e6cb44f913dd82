import type { Engine } from '../../src/index.js';

/** Steps between two looks at the heap. */
const stride = 16;
/** Scratch has grown before these. */
const warmUpSteps = 2000;
/** When the compiler has made what it can of the code is not known, so the best of these counts. */
const rounds = 4;

type Measured = Pick<Engine, 'submit' | 'idle' | 'flushPrefixCache'>;

/** Bytes of JavaScript's heap that a decode step allocates, garbage or not. */
export interface StepHeap {
  /** Over pieces of sixteen steps. */
  readonly median: number;
  readonly p90: number;
}

/**
 * Measures decode steps that have a number of rows. The heap is looked at every sixteen steps; a
 * collection between two looks makes one difference small or negative, which the median does not
 * mind.
 *
 * @param steps that are measured in each round, behind a warm-up
 */
export async function measureStepHeap(
  engine: Measured,
  rows: number,
  steps: number,
): Promise<StepHeap> {
  let best: StepHeap = { median: Number.POSITIVE_INFINITY, p90: Number.POSITIVE_INFINITY };
  for (let round = 0; round < rounds; round += 1) {
    const one = await measureRound(engine, rows, steps);
    if (one.median < best.median) best = one;
    // The next one finds the pages as this one did.
    await engine.idle();
    engine.flushPrefixCache();
  }
  return best;
}

async function measureRound(engine: Measured, rows: number, steps: number): Promise<StepHeap> {
  const looks = new Float64Array(steps / stride);
  const ends = Array.from({ length: rows }, (_, row) => run(engine, row, steps, looks));
  await Promise.all(ends);
  const differences = Array.from(
    looks.subarray(1),
    (used, at) => (used - (looks[at] ?? 0)) / stride,
  );
  differences.sort((a, b) => a - b);
  const at = (share: number): number =>
    differences[Math.floor(differences.length * share)] ?? Number.NaN;
  return { median: at(0.5), p90: at(0.9) };
}

function run(
  engine: Pick<Measured, 'submit'>,
  row: number,
  steps: number,
  looks: Float64Array,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let tokens = -warmUpSteps;
    const parameters = { maxTokens: warmUpSteps + steps, temperature: 0 };
    engine.submit([row + 1, row + 2], parameters, (event) => {
      if (event.type === 'finish') {
        if (event.reason === 'length') resolve();
        else reject(new Error(`a request ended by ${event.reason}`));
      }
      if (event.type !== 'token') return;
      if (row === 0 && tokens === 0) globalThis.gc?.();
      if (row === 0 && tokens >= 0 && tokens % stride === 0) {
        looks[tokens / stride] = process.memoryUsage().heapUsed;
      }
      tokens += 1;
    });
  });
}
