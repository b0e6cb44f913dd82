import { open, type Runtime, type Stream } from '@altstream/cuda-runtime';
import type { BenchCase, BenchRow, PreparedCase } from './bench-case.js';
import type { Ceiling } from './ceilings.js';
import { measureCeiling } from './device-ceiling.js';
import { watchMachine } from './machine-load.js';
import { measure, type Timing } from './measure.js';
import { measureGraph } from './measure-graph.js';
import { report } from './report.js';
import { runOptions } from './run-options.js';

/** Where a bench lives and what it needs. */
export interface BenchSetting {
  /** Stem of the bench file and of its results. */
  readonly bench: string;
  /** `import.meta.url` of the bench file. */
  readonly from: string;
  /** Loads the kernels that the cases use, unless they do so themselves. */
  readonly load?: (runtime: Runtime) => Promise<unknown>;
  /**
   * On the CPU; default: the copy bandwidth of as many threads as the backend uses. On a GPU it is
   * always the bandwidth of copies within its memory.
   */
  readonly ceiling?: Ceiling;
}

/**
 * Checks, times and prints the cases. `--backend auto|cpu|cuda`, `--threads N` on the CPU, `--save`
 * keeps the rows in `results/` beside the bench, `--out FOLDER` in that folder. A wrong row has no
 * time and fails the run.
 */
export async function runBench(setting: BenchSetting, cases: readonly BenchCase[]): Promise<void> {
  const options = runOptions(process.argv.slice(2));
  const whatElse = watchMachine();
  const runtime = await open(options.open);
  try {
    await setting.load?.(runtime);
    const stream = runtime.device().createStream({ name: setting.bench });
    const { name, tbps } = await measureCeiling(stream, setting.ceiling);
    const rows: BenchRow[] = [];
    for (const one of cases) rows.push(await runCase(one, stream, tbps));
    stream.dispose();
    const ceilings = { [name]: tbps };
    const { bench, from } = setting;
    const machine = whatElse();
    const { save, out } = options;
    report({ bench, from, runtime, machine, ceilings, rows, save, out });
    if (rows.some(({ right }) => !right)) process.exitCode = 1;
  } finally {
    await runtime.dispose();
  }
}

async function runCase(one: BenchCase, stream: Stream, tbps: number): Promise<BenchRow> {
  const { run, check, peers } = await one.prepare(stream);
  await run();
  try {
    await check();
  } catch (error) {
    process.stderr.write(`${JSON.stringify(one.case)}: ${String(error)}\n`);
    return { case: one.case, right: false };
  }
  const timing = await timingOf(stream, run);
  const others = peers && { peers: await measurePeers(stream, peers) };
  return { case: one.case, ...timing, ...rates(one, timing.us, tbps), ...others, right: true };
}

/** Replays of a graph on a GPU, enqueued calls on the CPU. */
function timingOf(stream: Stream, run: () => unknown): Promise<Timing> {
  const isCpu = stream.device.runtime.backend === 'cpu';
  return isCpu ? measure(stream, run) : measureGraph(stream, run);
}

function rates({ bytes, flops, tokens }: BenchCase, us: number, tbps: number): Partial<BenchRow> {
  return {
    ...(bytes && { floorUs: bytes / tbps / 1e6 }),
    ...(bytes && { gbps: bytes / us / 1e3 }),
    ...(flops && { gflops: flops / us / 1e3 }),
    ...(tokens && { tokensPerSecond: (tokens / us) * 1e6 }),
  };
}

async function measurePeers(
  stream: Stream,
  peers: NonNullable<PreparedCase['peers']>,
): Promise<Readonly<Record<string, number>>> {
  const times: Record<string, number> = {};
  for (const [name, run] of Object.entries(peers)) times[name] = (await timingOf(stream, run)).us;
  return times;
}
