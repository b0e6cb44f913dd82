import type { Stream, Tensor } from '@altstream/cuda-runtime';
import type { ExpertsPlan } from './experts.plan.js';
import { moeKernel } from './module.js';

const chunkColumns = 8; // 16 bytes

/**
 * Writes `x` in the order of path `wgmma` where a plan wants that; the projection behind it reads
 * `packed` instead.
 *
 * @param x      [rows, columns] bf16
 * @param packed u8, `plan.workspaceBytes`; null where the plan wants none
 */
export function launchPack(
  stream: Stream,
  { pack }: ExpertsPlan,
  x: Tensor,
  packed: Tensor | null,
): void {
  if (pack === undefined) return;
  const chunks = x.elements / chunkColumns;
  stream.launch(moeKernel(stream, pack.kernel), pack.config, { x, packed, chunks });
}
