// What a replayed step spends on each kernel: `pnpm exec tsx --conditions=@altstream/source
// packages/minimax-m3-model/bench/step-breakdown.bench.ts`. Flags and sizes are those of `pnpm
// bench:overlap` (bench/overlap/options.ts), with six layers by default: three dense, three sparse
// with experts.
//
// A trace puts an event around every node of the graph, which costs a few microseconds each and
// keeps programmatic launches from starting early; the untraced time of the step is the row `whole
// step`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BenchRow, report, runOptions, watchMachine } from '@altstream/bench';
import { open } from '@altstream/cuda-runtime';
import { MiniMaxM3Model } from '../src/index.js';
import { harnessArguments, overlapOptions } from './overlap/options.js';
import { fillCache } from './overlap/step-inputs.js';
import { barsSvg } from './step-breakdown/bars-svg.js';
import { breakDown, type StepBreakdown, sizesOf } from './step-breakdown/break-down.js';

const given = process.argv.slice(2);
const harness = runOptions(harnessArguments(given));
const machine = watchMachine();
const runtime = await open({ ...harness.open, maxPending: 16_384 });
try {
  const withLayers = given.includes('--layers') ? given : ['--layers', '6', ...given];
  const options = overlapOptions(withLayers, runtime);
  const { rank, seed, overrides, model: directory, modes } = options;
  const model = await MiniMaxM3Model.load({
    runtime,
    directory,
    loadFormat: 'dummy',
    overrides,
    seed,
    overlap: modes.length === 1 && modes[0] === 'on' ? 'capture' : 'off',
    ...(rank.size > 1 && { tensorParallel: rank }),
  });
  const stream = model.device.createStream({ name: 'main' });
  const cache = model.createCache(sizesOf(options, model.pageTokens).pages);
  await fillCache(cache, stream, seed);
  const steps: StepBreakdown[] = [];
  for (const batch of options.batches) {
    steps.push(await breakDown(model, { cache, stream, what: 'decode', size: batch, options }));
  }
  if (options.prefill > 0) {
    const size = options.prefill;
    steps.push(await breakDown(model, { cache, stream, what: 'prefill', size, options }));
  }
  const rows = steps.flatMap(rowsOf);
  const setting = { ...options, describe: model.describe() };
  const { save, out } = harness;
  const facts = { bench: 'step-breakdown', from: import.meta.url, runtime, ceilings: {}, rows };
  report({ ...facts, setting, machine: machine(), save, out });
  saveBars(steps);
  cache.dispose();
  stream.dispose();
  model.dispose();
} finally {
  await runtime.dispose();
}

function rowsOf({ what, size, stepUs, kernels }: StepBreakdown): BenchRow[] {
  const base = { what, size };
  return [
    { case: { ...base, kernel: 'whole step' }, us: stepUs, right: true },
    ...kernels.map(({ name, launches, us }) => {
      return { case: { ...base, kernel: name }, us, samples: launches, right: true };
    }),
  ];
}

/** A picture a step, in `docs/` with `--save`, and in the folder of `--out`. */
function saveBars(steps: readonly StepBreakdown[]): void {
  const docs = fileURLToPath(new URL('../docs', import.meta.url));
  for (const folder of [...(harness.save ? [docs] : []), ...(harness.out ? [harness.out] : [])]) {
    mkdirSync(folder, { recursive: true });
    for (const step of steps) {
      writeFileSync(join(folder, `step-breakdown-${step.what}-${step.size}.svg`), barsSvg(step));
    }
  }
}
