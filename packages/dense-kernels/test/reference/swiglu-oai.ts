/** Constants of the activation. */
export interface SwigluConstants {
  readonly alpha: number;
  readonly beta: number;
  readonly limit: number;
}

/** One element in double. Math.min and Math.max keep NaN. */
export function referenceSwigluOai(gate: number, up: number, constants: SwigluConstants): number {
  const { alpha, beta, limit } = constants;
  const g = Math.min(gate, limit);
  const u = Math.max(-limit, Math.min(up, limit));
  return (g / (1 + Math.exp(-alpha * g))) * (u + beta);
}
