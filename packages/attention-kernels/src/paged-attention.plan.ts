import type { DeviceLimits } from '@altstream/cuda-runtime';
import {
  type AttendPlan,
  type AttendShape,
  hasTensorCores,
  planChunk,
  planGeneral,
  planRows,
} from './attend.plan.js';
import { isPrefill } from './is-prefill.js';

const mostChunkTokens = 8;

/**
 * How dense attention runs: as rows that may be split, or, in prefill, as chunks that share keys.
 */
export function planPagedAttention(shape: AttendShape, limits: DeviceLimits): AttendPlan {
  const operation = 'paged_attention';
  if (!hasTensorCores(shape, limits)) return planGeneral(operation, shape, limits);
  if (isPrefill(shape)) return planChunk(shape, mostChunkTokens, limits);
  return planRows(operation, shape, limits);
}
