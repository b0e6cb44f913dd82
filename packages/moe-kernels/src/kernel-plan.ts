import type { DeviceLimits, LaunchConfig } from '@altstream/cuda-runtime';
import type { PdlChooser, PdlDecision } from './pdl.js';

/** How one kernel is started; pure data. */
export interface KernelPlan {
  readonly kernel: string;
  readonly config: LaunchConfig;
  readonly pdl: PdlDecision;
  /** Scratch beyond inputs and outputs, given back once the kernel is enqueued. */
  readonly workspaceBytes: number;
}

/** What a plan decides before PDL. */
export interface KernelChoice {
  readonly kernel: string;
  /** Blocks in x. */
  readonly blocks: number;
  /** Threads of a block. */
  readonly threads: number;
  readonly tokens: number;
}

/**
 * Kernels whose manifest says `pdl=waits`. None yet: the CPU entries read their input at once, and
 * the CUDA entries do not exist. A programmatic launch of such a kernel would be a race.
 */
export const waitingKernels: ReadonlySet<string> = new Set();

/** Completes a choice with the PDL decision: the one place where the attribute is set. */
export function planKernel(
  { kernel, blocks, threads, tokens }: KernelChoice,
  device: DeviceLimits,
  pdl: PdlChooser,
): KernelPlan {
  const decision = pdl({ tokens, device, waits: waitingKernels.has(kernel) });
  const config: LaunchConfig = {
    grid: [Math.max(1, blocks)],
    block: [threads],
    ...(decision.enabled ? { programmatic: { serialize: true } } : {}),
  };
  return { kernel, config, pdl: decision, workspaceBytes: 0 };
}
