import type { Stream, Tensor } from '@altstream/cuda-runtime';
import { packChunks } from './experts-pack.plan.js';
import type { KernelPlan } from './kernel-plan.js';
import { moeKernel } from './module.js';

/**
 * Writes the rows of `x` in the order in which the products of path `wgmma` take them.
 *
 * @param plan   of `planExpertsPack`; undefined: nothing is to be done
 * @param x      [rows, columns] bf16
 * @param packed u8, two bytes an element of x
 * @see docs/experts-pack.md
 */
export function expertsPack(
  stream: Stream,
  plan: KernelPlan | undefined,
  x: Tensor,
  packed: Tensor | null,
): void {
  if (plan === undefined) return;
  const chunks = packChunks(x.elements);
  stream.launch(moeKernel(stream, plan.kernel), plan.config, { x, packed, chunks });
}
