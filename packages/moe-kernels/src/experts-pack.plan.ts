import type { DeviceLimits } from '@altstream/cuda-runtime';
import { type KernelPlan, planKernel } from './kernel-plan.js';
import type { PdlChooser } from './pdl.js';

/** What the choice depends on. */
export interface ExpertsPackShape {
  readonly tokens: number;
  readonly rows: number;
  /** In multiples of 64. */
  readonly columns: number;
  /** Of the products that follow; decides the order. */
  readonly weights: 'mxfp8' | 'bf16';
}

const threads = 256;
const chunkColumns = 8; // 16 bytes, of a thread at a time
const blocksPerProcessor = 8; // all resident

/** Threads stride over 16 bytes each of all rows. */
export function planExpertsPack(
  { tokens, rows, columns, weights }: ExpertsPackShape,
  device: DeviceLimits,
  pdl: PdlChooser,
): KernelPlan {
  const blocks = Math.ceil(packChunks(rows * columns) / threads);
  const choice = {
    kernel: `experts_pack_${weights}`,
    blocks: Math.min(blocks, device.processors * blocksPerProcessor),
    block: [threads],
    tokens,
  } as const;
  return planKernel(choice, device, pdl);
}

/** Chunks of `elements` activations. */
export function packChunks(elements: number): number {
  return elements / chunkColumns;
}
