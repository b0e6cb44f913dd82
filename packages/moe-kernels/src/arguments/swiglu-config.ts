import { ArgumentRangeError } from '../errors/index.js';

/** SwiGLU-OAI: min(g, limit) · sigmoid(alpha · g) · (clamp(u, ±limit) + beta). */
export interface SwigluConfig {
  /** Slope inside the sigmoid; default 1.702. */
  readonly alpha?: number;
  /** Added to the clamped up branch; default 1. */
  readonly beta?: number;
  /** Clamp, > 0; default 7; Infinity = none. Plain SwiGLU is alpha 1, beta 0, limit Infinity. */
  readonly limit?: number;
}

/**
 * Checks the activation's constants and fills in those of MiniMax-M3. @throws ArgumentRangeError
 */
export function resolveSwiglu(
  { alpha = 1.702, beta = 1, limit = 7 }: SwigluConfig,
  caller: string,
): Required<SwigluConfig> {
  if (!Number.isFinite(alpha)) {
    throw new ArgumentRangeError(caller, `alpha must be a finite number, got ${alpha}`);
  }
  if (!Number.isFinite(beta)) {
    throw new ArgumentRangeError(caller, `beta must be a finite number, got ${beta}`);
  }
  if (!(limit > 0)) throw new ArgumentRangeError(caller, `limit must be > 0, got ${limit}`);
  return { alpha, beta, limit };
}
