import type { Device } from '@altstream/cuda-runtime';
import type { TensorCorePath } from '../../src/experts/experts.shape.js';

/** The paths that a projection of bf16 activations with `columns` columns may be asked for. */
export function pathsFor({ limits }: Device, columns: number): readonly TensorCorePath[] {
  if (limits.cpuLevel !== '') return ['stream']; // any name will do for its one way
  const hasWarpgroups = limits.sm === '9.0' && columns % 64 === 0;
  return hasWarpgroups ? ['stream', 'tiled', 'wgmma'] : ['stream', 'tiled'];
}
