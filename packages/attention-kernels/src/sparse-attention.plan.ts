import type { DeviceLimits } from '@altstream/cuda-runtime';
import {
  type AttendPlan,
  type AttendShape,
  hasTensorCores,
  planGeneral,
  planRows,
} from './attend.plan.js';

/** How sparse attention runs: as rows that may be split. Neighbours have lists of their own. */
export function planSparseAttention(shape: AttendShape, limits: DeviceLimits): AttendPlan {
  const operation = 'sparse_attention';
  if (!hasTensorCores(shape, limits)) return planGeneral(operation, shape, limits);
  return planRows(operation, shape, limits);
}
