import { parseArgs } from 'node:util';
import { open, type Runtime, type Stream } from '@altstream/cuda-runtime';
import type { BenchCase, BenchRow } from './bench-case.js';
import { type Ceiling, copyCeiling } from './ceilings.js';
import { measure } from './measure.js';
import { report } from './report.js';

/** Where a bench lives and what it needs. */
export interface BenchSetting {
  /** Stem of the bench file and of its results. */
  readonly bench: string;
  /** `import.meta.url` of the bench file. */
  readonly from: string;
  /** Loads the kernels that the cases use. */
  readonly load: (runtime: Runtime) => Promise<unknown>;
  /** Default: one thread's copy bandwidth. */
  readonly ceiling?: Ceiling;
}

/**
 * Checks, times and prints the cases. `--backend auto|cpu|cuda`, `--threads N` on the CPU,
 * `--save` keeps the rows in `results/` beside the bench. A wrong row has no time and fails the run.
 */
export async function runBench(setting: BenchSetting, cases: readonly BenchCase[]): Promise<void> {
  const { values } = parseArgs({
    options: {
      backend: { type: 'string', default: 'auto' },
      threads: { type: 'string' },
      save: { type: 'boolean', default: false },
    },
  });
  const threads = values.threads === undefined ? {} : { cpu: { threads: Number(values.threads) } };
  const runtime = await open({ backend: backendOf(values.backend), ...threads });
  try {
    await setting.load(runtime);
    const device = runtime.device();
    const { name, measure: measureCeiling } = setting.ceiling ?? copyCeiling;
    const isCpu = runtime.backend === 'cpu';
    const tbps = isCpu ? await measureCeiling(device.limits.processors) : undefined;
    const stream = device.createStream({ name: setting.bench });
    const rows: BenchRow[] = [];
    for (const one of cases) rows.push(await runCase(one, stream, tbps));
    stream.dispose();
    const ceilings = tbps === undefined ? {} : { [name]: tbps };
    report({ ...setting, device, ceilings, rows, save: values.save });
    if (rows.some(({ right }) => !right)) process.exitCode = 1;
  } finally {
    await runtime.dispose();
  }
}

async function runCase(one: BenchCase, stream: Stream, tbps?: number): Promise<BenchRow> {
  const { run, check } = await one.prepare(stream);
  run();
  try {
    await check();
  } catch (error) {
    process.stderr.write(`${JSON.stringify(one.case)}: ${String(error)}\n`);
    return { case: one.case, right: false };
  }
  const timing = await measure(stream, run);
  const floor = tbps === undefined ? {} : { floorUs: one.bytes / tbps / 1e6 };
  const rate = one.flops === undefined ? {} : { gflops: one.flops / timing.us / 1e3 };
  return { case: one.case, ...timing, ...floor, ...rate, right: true };
}

function backendOf(text: string): 'auto' | 'cpu' | 'cuda' {
  if (text === 'auto' || text === 'cpu' || text === 'cuda') return text;
  throw new Error(`--backend is ${text}, expected auto, cpu or cuda`);
}
