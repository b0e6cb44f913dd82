import type { DeviceLimits } from '@altstream/cuda-runtime';
import type { ExpertsPlan, ExpertsShape } from './experts/experts.shape.js';
import { planExpertsDown } from './experts-down.plan.js';
import { planExpertsGateUp } from './experts-gate-up.plan.js';
import { planFinalize } from './finalize.plan.js';
import type { KernelPlan } from './kernel-plan.js';
import type { PdlChooser } from './pdl.js';
import { planPermute } from './permute.plan.js';

/** Everything that one call will launch, in order. */
export interface RoutedExpertsPlan {
  /**
   * permute unless the call brings its maps, gate and up, down, finalize, with a launch before each
   * of the projections that wants its activations reordered; none without tokens.
   */
  readonly steps: readonly KernelPlan[];
  /** Intermediate tensors taken from the allocator. */
  readonly workspaceBytes: number;
  /** How the weights lie in memory. */
  readonly layout: 'plain';
  /** What was not taken, and why. */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

/** What about a call its shape does not say. */
export interface RoutedExpertsCall {
  /** Of the first launch. */
  readonly first?: PdlChooser;
  /** Of the sum. */
  readonly last?: PdlChooser;
  /** Whether the call brings the maps of its ids. */
  readonly isPermuted?: boolean;
  /** Whether each weight begins at a multiple of 16 bytes; default true. */
  readonly areAligned?: { readonly w13: boolean; readonly w2: boolean };
}

/** Pure: same shape and device, same plan. */
export function planRoutedExperts(
  shape: ExpertsShape,
  device: DeviceLimits,
  pdl: PdlChooser,
  { first = pdl, last = pdl, isPermuted = false, areAligned }: RoutedExpertsCall = {},
): RoutedExpertsPlan {
  const { tokens, hidden, activations } = shape;
  const { w13 = true, w2 = true } = areAligned ?? {};
  const call = { first: isPermuted ? first : pdl };
  const gateUp = planExpertsGateUp({ ...shape, isAligned: w13 }, device, pdl, call);
  const down = planExpertsDown({ ...shape, isAligned: w2 }, device, pdl);
  const steps = [
    ...(isPermuted ? [] : [planPermute(shape, device, first)]),
    ...withPack(gateUp),
    ...withPack(down),
    planFinalize({ tokens, hidden, dtype: activations }, device, last),
  ];
  return {
    steps: tokens === 0 ? [] : steps,
    workspaceBytes: workspaceBytes(shape, steps, isPermuted),
    layout: gateUp.layout,
    refused: [
      { path: 'W8A8', reason: 'activations are not quantised by these kernels' },
      ...refusedBy(gateUp, down),
    ],
  };
}

/** What both refused for one reason is said once. */
function refusedBy(gateUp: ExpertsPlan, down: ExpertsPlan): RoutedExpertsPlan['refused'] {
  const isOf = (plan: ExpertsPlan, { path, reason }: RoutedExpertsPlan['refused'][number]) =>
    plan.refused.some((other) => other.path === path && other.reason === reason);
  const named = (name: string, plan: ExpertsPlan, other: ExpertsPlan) =>
    plan.refused
      .filter((refusal) => !isOf(other, refusal))
      .map(({ path, reason }) => ({ path, reason: `${name}: ${reason}` }));
  return [
    ...gateUp.refused.filter((refusal) => isOf(down, refusal)),
    ...named('gate and up', gateUp, down),
    ...named('down', down, gateUp),
  ];
}

/** The workspace is the projection's. */
function withPack(plan: ExpertsPlan): readonly KernelPlan[] {
  return plan.pack ? [plan.pack, plan] : [plan];
}

function workspaceBytes(
  shape: ExpertsShape,
  steps: readonly KernelPlan[],
  isPermuted: boolean,
): number {
  const slots = shape.tokens * shape.k;
  const elementBytes = shape.activations === 'bf16' ? 2 : 4;
  const maps = isPermuted ? 0 : (shape.localExperts + 1 + 2 * slots) * 4;
  const rows = slots * (shape.intermediate + shape.hidden) * elementBytes;
  return steps.reduce((sum, step) => sum + step.workspaceBytes, maps + rows);
}
