import type { Kernel, KernelParams, LaunchConfig, Stream, Tensor } from '../../src/index.js';
import type { TestRuntime } from '../makers/test-kernels.js';

/** Memory on the device, and what it holds once all that was submitted is done. */
export interface Slot {
  readonly tensor: Tensor;
  readonly values: Int32Array;
  /** The stream of its last operation; others wait for it first. */
  lastUser: Stream;
  /** What was done to it lately, the newest last. */
  readonly history: string[];
}

/** An operation whose result is known. */
export type Step =
  | { readonly kind: 'accumulate'; readonly y: Slot; readonly factor: number; readonly x: number }
  | { readonly kind: 'set'; readonly y: Slot; readonly value: number }
  | { readonly kind: 'fill'; readonly y: Slot; readonly byte: number }
  | { readonly kind: 'copy'; readonly y: Slot; readonly from: Slot };

/** The slots that a step touches. */
export function slotsOf(step: Step): readonly Slot[] {
  return step.kind === 'copy' ? [step.y, step.from] : [step.y];
}

/** Notes what was done to the slot: the value that its first element must have then. */
export function noteHistory(slot: Slot, what: string): void {
  slot.history.push(`${what} → ${slot.values[0]}`);
  if (slot.history.length > 24) slot.history.shift();
}

/** What the step does to the model; `where` says by what. */
export function apply(step: Step, where: string): void {
  const { values } = step.y;
  if (step.kind === 'accumulate') {
    for (let i = 0; i < values.length; i += 1) {
      values[i] = Math.imul(values[i] ?? 0, step.factor) + step.x;
    }
  } else if (step.kind === 'copy') values.set(step.from.values);
  else values.fill(step.kind === 'set' ? step.value : step.byte * 0x01010101);
  noteHistory(step.y, `${step.kind} ${where}`);
}

/** Submits the step; a capturing stream records it. */
export function submit(t: TestRuntime, stream: Stream, step: Step): void {
  const y = step.y.tensor;
  if (step.kind === 'copy') stream.copy(y, step.from.tensor);
  else if (step.kind === 'fill') stream.fill(y, step.byte);
  else stream.launch(...kernelOf(t, step));
}

/** Kernel, configuration and parameters of a step that is a launch. */
export function kernelOf(t: TestRuntime, step: Step): [Kernel, LaunchConfig, KernelParams] {
  const { tensor } = step.y;
  const base = { y: tensor, count: tensor.elements };
  const config = { grid: [1], block: [256] } as const;
  if (step.kind === 'set') return [t.kernels.fill, config, { ...base, value: step.value }];
  const { factor, x } = step.kind === 'accumulate' ? step : { factor: 1, x: 0 };
  return [t.kernels.accumulate, config, { ...base, factor, x }];
}
