import { type CpuLevelName, open } from '@altstream/cuda-runtime';
import { cpuLevels, downloadRaw, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { expect, test } from 'vitest';
import { loadMoeKernels, type RoutingMethod, topk } from '../src/index.js';

const tokens = 40;
const special = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  0,
  -0,
  1,
  1,
  -1,
  1e-40,
  -100,
  100,
  3e38,
];
const methods: readonly RoutingMethod[] = ['sigmoidRenorm', 'default', 'renormalize', 'topK'];
/** k of experts, on both sides of each limit of the two ways to choose. */
const sizes = [
  [1, 1],
  [4, 128],
  [6, 72],
  [3, 512],
  [3, 513],
  [8, 200],
  [32, 1000],
] as const;
const cases = methods.flatMap((method) =>
  sizes.map(([topK, experts]) => ({
    name: `${method}, ${topK} of ${experts}`,
    method,
    topK,
    experts,
  })),
);

/**
 * Rows of ordinary logits, few different ones, special values, and almost only -∞ or NaN, in turn.
 */
function makeLogits(experts: number): Float32Array {
  const random = seededRandom(experts);
  const anySpecial = () => special[random.integer(0, special.length)] ?? 0;
  const zero = () => (random.integer(0, 2) === 0 ? 0 : -0);
  const kinds = [
    () => random.uniform(-9, 9),
    () => random.integer(-3, 4),
    anySpecial,
    () => (random.integer(0, 40) === 0 ? zero() : Number.NEGATIVE_INFINITY),
    () => (random.integer(0, 40) === 0 ? anySpecial() : Number.NaN),
  ];
  return Float32Array.from({ length: tokens * experts }, (_, i) => {
    const kind = kinds[Math.floor(i / experts) % kinds.length];
    return kind ? kind() : 0;
  });
}

async function route(level: CpuLevelName, { method, topK, experts }: (typeof cases)[number]) {
  await using runtime = await open({ backend: 'cpu', isolated: true, cpu: { level } });
  await loadMoeKernels(runtime);
  using stream = runtime.device().createStream();
  const logits = upload(stream, makeLogits(experts), [tokens, experts], 'f32');
  const { ids, weights } = topk({ logits }, { method, topK }, { stream });
  const bytes = [await downloadRaw(stream, ids), await downloadRaw(stream, weights)];
  return Buffer.concat(bytes).toString('hex');
}

const [lowest, ...others] = cpuLevels();

test.each(cases)('topk has the same bits on every CPU level: $name', async (testCase) => {
  if (!lowest) throw new Error('no CPU level');
  const expected = await route(lowest, testCase);
  for (const level of others) expect(await route(level, testCase), level).toBe(expected);
});
