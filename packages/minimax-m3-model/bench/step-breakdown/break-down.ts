// One captured step, replayed once under a trace: how long each of its kernels ran, by name and
// shape.
import { type Stream, Workspace } from '@altstream/cuda-runtime';
import type { MiniMaxM3Model } from '../../src/index.js';
import type { KvCache } from '../../src/kv-cache.js';
import { captureStep } from '../overlap/captured-step.js';
import type { OverlapOptions } from '../overlap/options.js';
import { decodeInputs, prefillInputs } from '../overlap/step-inputs.js';
import { timeInTurns } from '../overlap/turns.js';

/** All launches of one kernel with one grid and block. */
export interface KernelSum {
  readonly name: string;
  readonly launches: number;
  /** Microseconds of all of them, traced. */
  readonly us: number;
}

/** A step and where its time goes. */
export interface StepBreakdown {
  readonly what: 'decode' | 'prefill';
  /** Sequences of a decode step, tokens of a prefill. */
  readonly size: number;
  /** Median of a replay without a trace. */
  readonly stepUs: number;
  /** Longest first. */
  readonly kernels: readonly KernelSum[];
}

/** Pages that the sizes of the options need. */
export function sizesOf(
  { batches, context, prefill }: OverlapOptions,
  pageTokens: number,
): { readonly pages: number } {
  const decode = Math.max(...batches) * Math.ceil(context / pageTokens);
  return { pages: Math.max(decode, Math.ceil(prefill / pageTokens)) };
}

/** Times the step, then traces one replay of it. */
export async function breakDown(
  model: MiniMaxM3Model,
  step: {
    readonly cache: KvCache;
    readonly stream: Stream;
    readonly what: 'decode' | 'prefill';
    readonly size: number;
    readonly options: OverlapOptions;
  },
): Promise<StepBreakdown> {
  const { cache, stream, what, size, options } = step;
  const { context, prefillSteps } = options;
  const isDecode = what === 'decode';
  const inputs = isDecode
    ? decodeInputs(stream, model, { batch: size, context })
    : prefillInputs(stream, model, size);
  const workspace = new Workspace(model.device, { label: 'breakdown' });
  const where = { cache, stream, workspace, feeds: isDecode };
  const { graph } = await captureStep(model, inputs, where);
  const steps = isDecode ? options.steps : prefillSteps;
  const timing = { steps, begin: inputs.begin };
  const times = await timeInTurns([{ name: 'step', graph }], stream, timing);
  const { trace } = model.runtime;
  trace.start();
  graph.launch(stream);
  await stream.synchronize();
  const kernels = sumsOf(trace.stop().toChromeJson());
  graph.dispose();
  inputs.dispose();
  workspace.dispose();
  return { what, size, stepUs: times.get('step')?.us ?? Number.NaN, kernels };
}

interface ChromeEvent {
  readonly ph: string;
  readonly name: string;
  readonly dur?: number;
  readonly args?: { readonly kind?: string; readonly grid?: string; readonly block?: string };
}

function sumsOf(chromeJson: string): KernelSum[] {
  const { traceEvents } = JSON.parse(chromeJson) as { traceEvents: readonly ChromeEvent[] };
  const sums = new Map<string, { launches: number; us: number }>();
  for (const { ph, name, dur = 0, args } of traceEvents) {
    if (ph !== 'X' || args?.kind === undefined) continue;
    const key = [name, args.grid, args.block].filter((part) => part !== undefined).join(' ');
    const { launches, us } = sums.get(key) ?? { launches: 0, us: 0 };
    sums.set(key, { launches: launches + 1, us: us + dur });
  }
  return [...sums].map(([name, sum]) => ({ name, ...sum })).sort((a, b) => b.us - a.us);
}
