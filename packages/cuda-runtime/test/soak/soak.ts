import { seededRandom } from '../../src/testing/index.js';
import { auditText } from '../makers/audit-text.js';
import { expectLive, liveOf } from '../makers/live-objects.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';
import { runInterruptedSession } from './interrupted-session.js';
import { type Counts, runSession } from './run-session.js';
import { openRandomRuntime } from './runtimes.js';
import type { Sample } from './samples.js';
import { takeSample } from './samples.js';
import type { SoakOptions } from './soak-options.js';
import { endings, runWorker } from './worker-pool.js';

/** What a soak did and saw. */
export interface SoakRun {
  readonly operations: number;
  readonly counts: Counts;
  readonly seconds: number;
  readonly sessions: number;
  readonly runtimes: number;
  readonly workers: number;
  readonly samples: readonly Sample[];
  /** Objects alive on the runtime that was open all the time, but for the kernels. */
  readonly leftBehind: Counts;
  /** Records of those kinds and what holds them, a line each. */
  readonly leftRecords: readonly string[];
}

/** Operations of a session; a worker does as many at most. */
const sessionOperations = 4000;

/**
 * Rounds of sessions on a runtime that stays open and on runtimes that come and go, beside workers
 * that start and end, until the operations or the time are reached. After each round, when no
 * worker lives, everything is collected and a sample taken.
 * @throws Error at the first wrong result, unplanned error, leak or worker that ended too early
 */
export async function soak(
  options: SoakOptions,
  onSample: (sample: Sample) => void,
): Promise<SoakRun> {
  const { backend, seed } = options;
  const random = seededRandom(seed);
  const counts = new Map<string, number>();
  let operations = 0;
  const progress = (some: Counts) => {
    for (const [kind, count] of Object.entries(some)) {
      counts.set(kind, (counts.get(kind) ?? 0) + count);
      operations += count;
    }
  };
  const tally = { sessions: 0, runtimes: 0, workers: 0 };
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1000;
  const isDone = () =>
    operations >= options.operations || (options.seconds > 0 && elapsed() >= options.seconds);
  const t = await openTestRuntime({ backend, maxPending: 4096 });
  const samples: Sample[] = [];
  const session = async (on: TestRuntime) => {
    tally.sessions += 1;
    const plan = { seed: random.integer(1, 2 ** 30), operations: sessionOperations };
    await runSession(on, { ...plan, isShared: false }, progress);
  };
  const workers = async () => {
    await Promise.all(
      Array.from({ length: options.workers }, async () => {
        tally.workers += 1;
        const ending = endings[random.integer(0, endings.length)] ?? 'finish';
        const order = { backend, seed: random.integer(1, 2 ** 30), ending };
        await runWorker({ ...order, operations: sessionOperations }, progress);
      }),
    );
  };
  while (!isDone()) {
    // The runtime of the workers, held open to see what they leave behind.
    const shared = await openTestRuntime({ backend, isolated: false });
    const before = liveOf(shared);
    const beside = workers();
    beside.catch(() => undefined); // reported below
    await session(t);
    const other = await openRandomRuntime(backend, random);
    tally.runtimes += 1;
    await session(other);
    await other.runtime.dispose();
    if (backend === 'cpu') {
      const faulty = await openTestRuntime({ backend, maxPending: 4096 });
      const plan = { seed: random.integer(1, 2 ** 30), operations: sessionOperations };
      await runInterruptedSession(faulty, { ...plan, isShared: false }, random, progress);
      await faulty.runtime.dispose();
      tally.runtimes += 1;
      tally.sessions += 1;
    }
    await beside;
    await expectLive(shared, before);
    await shared.runtime.dispose();
    await collect();
    const sample = takeSample(t.runtime, elapsed(), operations);
    samples.push(sample);
    onSample(sample);
  }
  const leftBehind = remaining(t);
  const kinds = Object.keys(leftBehind);
  const leftRecords = kinds.length > 0 ? auditText(t.runtime, kinds).split('\n') : [];
  const seconds = elapsed();
  await t.runtime.dispose();
  return {
    operations,
    counts: sorted(counts),
    seconds,
    ...tally,
    samples,
    leftBehind,
    leftRecords,
  };
}

async function collect(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

// The module is the test kernels', which the program holds to the end; `main` belongs to the
// runtime.
function remaining(t: TestRuntime): Counts {
  const owned: Counts = { module: 1, stream: 1 };
  return Object.fromEntries(
    Object.entries(t.runtime.stats().live)
      .map(([kind, count]) => [kind, count - (owned[kind] ?? 0)] as const)
      .filter(([, count]) => count > 0),
  );
}

function sorted(counts: ReadonlyMap<string, number>): Counts {
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
}
