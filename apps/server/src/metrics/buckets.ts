/** Upper bounds of the latency histograms in seconds, as vLLM has them. */
export const latencyBuckets = {
  ttft: [
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40,
    80, 160, 640, 2560,
  ],
  itl: [
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
  ],
  e2e: [
    0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
  ],
  /** Of what takes milliseconds. */
  short: [
    0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
    0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ],
  /** As sglang has them. */
  sglang: {
    ttft: [0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400],
    itl: [
      0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.06, 0.08, 0.1, 0.2,
      0.4, 0.6, 0.8, 1, 2, 4, 6, 8,
    ],
    e2e: [
      0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400, 800, 1200, 1800,
      2400,
    ],
  },
} as const;

/** Tokens of a step. */
export const iterationBuckets = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384];

/** Choices of a request. */
export const choiceBuckets = [1, 2, 5, 10, 20];

/** 1, 2, 5, 10, 20, 50 … up to the longest sequence. */
export function tokenBuckets(maxModelLength: number): number[] {
  const buckets: number[] = [];
  for (let power = 1; power <= maxModelLength; power *= 10) {
    buckets.push(...[1, 2, 5].map((digit) => digit * power));
  }
  return buckets.filter((bucket) => bucket <= maxModelLength);
}
