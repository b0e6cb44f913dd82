import type { WeightFormat } from './arguments/expert-weight.js';
import { ConfigurationError } from './errors/index.js';

/** Weight formats that have a PDL limit of their own. */
export const pdlDtypes = ['fp4', 'mxfp4', 'mxfp8', 'fp8Block', 'bf16'] as const;

/** A weight format, as PDL limits name it. */
export type PdlDtype = (typeof pdlDtypes)[number];

/**
 * Largest token count with PDL, inclusive: 0 = never, -1 or Infinity = always. One for all, or one
 * a format.
 */
export type PdlLimit = number | Partial<Record<PdlDtype, number>>;

/** The limit of one format in a setting, or undefined when the setting does not speak of it. */
export function limitOf(limit: PdlLimit | undefined, dtype: PdlDtype): number | undefined {
  return typeof limit === 'number' ? limit : limit?.[dtype];
}

/**
 * Checks a limit and turns -1 into Infinity.
 * @throws ConfigurationError which names `setting`
 */
export function checkLimit(setting: string, limit: number): number {
  if (limit === -1 || limit === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
  if (Number.isInteger(limit) && limit >= 0) return limit;
  throw new ConfigurationError(setting, 'an integer ≥ -1', String(limit));
}

/**
 * Limits built in, by architecture. 4096 on Blackwell for 8-bit formats is the value proposed
 * after the reported hangs; above it PDL is worth at most 0.2 %. Hopper has none of the binaries
 * of those reports. SM 10.7 has no working PDL for these kernels in peers.
 */
export function builtInLimit(dtype: PdlDtype, sm: string): number {
  if (sm === '10.7') return 0;
  const isEightBit = dtype === 'mxfp8' || dtype === 'fp8Block';
  return isEightBit && Number.parseInt(sm, 10) >= 10 ? 4096 : 8192;
}

/** The format whose limit applies to a weight format; wider weights go by the limit of bf16. */
export function pdlDtypeOf(format: WeightFormat): PdlDtype {
  return format === 'mxfp8' ? 'mxfp8' : 'bf16';
}
