// Decode and prefill of one model under every mode, checked, then timed in turns.

import type { BenchRow } from '@altstream/bench';
import { type Stream, Workspace } from '@altstream/cuda-runtime';
import type { MiniMaxM3Model } from '../../src/index.js';
import type { KvCache } from '../../src/kv-cache.js';
import { type CapturedStep, captureStep, firstExpertsOf, logitsOf } from './captured-step.js';
import { faultOfEqual, faultOfFused, faultOfRepeated } from './faults.js';
import type { Mode, OverlapOptions } from './options.js';
import { decodeInputs, prefillInputs, type StepInputs } from './step-inputs.js';
import { type Times, timeInTurns } from './turns.js';

/** The models of all modes, over the same weights, and what they run on. */
export interface Subject {
  readonly models: ReadonlyMap<Mode, MiniMaxM3Model>;
  readonly cache: KvCache;
  readonly stream: Stream;
  readonly options: OverlapOptions;
}

/** The models of the modes; one that cannot be is left out, and `tell` hears why. */
export async function makeVariants(
  model: MiniMaxM3Model,
  { modes, batches }: OverlapOptions,
  tell: (text: string) => void,
): Promise<Map<Mode, MiniMaxM3Model>> {
  const decisions = {
    off: { overlap: 'off', sharedExpert: 'separate' },
    on: { overlap: 'capture', sharedExpert: 'separate' },
    fused: { overlap: 'capture', sharedExpert: 'fused' },
    auto: { overlap: 'capture', sharedExpert: 'auto', measuredBatchSizes: batches },
    without: { overlap: 'off', sharedExpert: 'separate' },
  } as const;
  const variants = new Map<Mode, MiniMaxM3Model>();
  // What the others are compared with is always there.
  for (const mode of new Set<Mode>(['off', ...modes])) {
    try {
      const variant = await model.variant(decisions[mode]);
      if (mode === 'without') leaveOutShared(variant);
      variants.set(mode, variant);
    } catch (error) {
      tell(`without ${mode}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return variants;
}

/** Makes the routed experts all that a layer has. */
function leaveOutShared({ moeBlocks }: MiniMaxM3Model): void {
  for (const block of moeBlocks.values()) {
    block.forward = (hidden, step, out) => block.forwardRouted(hidden, step, out);
  }
}

/** Rows of one decode batch, one a mode. */
export async function measureDecode(subject: Subject, batch: number): Promise<BenchRow[]> {
  const { options, stream } = subject;
  const { steps, context } = options;
  const [model] = subject.models.values();
  if (!model) return [];
  const inputs = decodeInputs(stream, model, { batch, context });
  const base = { what: 'decode', batch, context };
  const rows = await measureModes(subject, inputs, { steps, feeds: true, base, answers: batch });
  inputs.dispose();
  return rows;
}

/** Rows of the prefill of one prompt, without the modes that decode is tuned for. */
export async function measurePrefill(subject: Subject): Promise<BenchRow[]> {
  const { options, stream, models } = subject;
  const { prefill, prefillSteps: steps } = options;
  const [model] = models.values();
  if (!model || prefill === 0) return [];
  const inputs = prefillInputs(stream, model, prefill);
  const plain = new Map([...models].filter(([mode]) => mode === 'off' || mode === 'on'));
  const base = { what: 'prefill', batch: 1, context: prefill };
  const parts = { steps, feeds: false, base, answers: prefill };
  const rows = await measureModes({ ...subject, models: plain }, inputs, parts);
  inputs.dispose();
  return rows;
}

interface Parts {
  readonly steps: number;
  readonly feeds: boolean;
  readonly base: Readonly<Record<string, string | number>>;
  /** Tokens that a step computes. */
  readonly answers: number;
}

async function measureModes(
  { models, cache, stream }: Subject,
  inputs: StepInputs,
  parts: Parts,
): Promise<BenchRow[]> {
  const { steps, feeds, base, answers } = parts;
  const captured: { mode: Mode; step: CapturedStep; fault: string | undefined }[] = [];
  const workspace = new Workspace(stream.device, { label: 'bench' });
  const where = { cache, stream, workspace };
  let serial: Results | undefined;
  for (const [mode, model] of models) {
    const experts = await firstExpertsOf(model, inputs, where);
    const step = await captureStep(model, inputs, { ...where, feeds });
    const logits = await logitsOf(step, inputs, stream);
    serial ??= { logits, experts };
    const isFused = model.sharedExpert.wayOf(inputs.batch.tokenIds.elements) === 'fused';
    const fault =
      faultOfRepeated(logits, await logitsOf(step, inputs, stream)) ??
      (mode === 'without' ? undefined : faultOfMode(isFused, { logits, experts }, serial));
    captured.push({ mode, step, fault });
  }
  const right = captured.filter(({ fault }) => fault === undefined);
  const contenders = right.map(({ mode, step }) => ({ name: mode, graph: step.graph }));
  const times = await timeInTurns(contenders, stream, { steps, begin: inputs.begin });
  const rows = captured.map(({ mode, fault }) => {
    const facts = { case: { ...base, mode }, ...choiceOf(mode, models.get(mode), answers) };
    const own = times.get(mode);
    if (fault === undefined && own)
      return { ...facts, ...rates(own, times.get('off'), parts), right: true };
    process.stderr.write(`${JSON.stringify(facts.case)}: ${fault}\n`);
    return { ...facts, right: false };
  });
  for (const { step } of captured) step.graph.dispose();
  await stream.synchronize();
  workspace.dispose();
  return rows;
}

/** What a mode computes. */
interface Results {
  readonly logits: Float32Array;
  /** Of `firstExpertsOf`. */
  readonly experts: Float32Array;
}

function faultOfMode(isFused: boolean, own: Results, serial: Results): string | undefined {
  if (isFused) return faultOfFused(own.experts, serial.experts);
  return faultOfEqual(own.logits, serial.logits);
}

/** What `auto` chose, and the times of one layer that it rests on. */
function choiceOf(mode: Mode, model: MiniMaxM3Model | undefined, tokens: number) {
  if (mode !== 'auto' || !model) return {};
  const { sharedExpert } = model;
  const measured = sharedExpert.measurementOf(tokens);
  return { way: sharedExpert.wayOf(tokens), ...(measured && { measured: { ...measured } }) };
}

function rates({ us, p95Us, samples }: Times, off: Times | undefined, { answers, feeds }: Parts) {
  return {
    us,
    p95Us,
    samples,
    tokensPerSecond: (answers / us) * 1e6,
    ...(feeds && { tokensPerSecondPerUser: 1e6 / us }),
    ...(off && { savedPercent: (1 - us / off.us) * 100 }),
  };
}
