import { seededRandom } from '@altstream/cuda-runtime/testing';
import {
  type RoutingMethod,
  routingMethods,
  routingRecipes,
} from '../../src/routing/routing-method.js';
import type { TopkConfig } from '../../src/routing/topk-config.js';
import { type ReferenceTopkInput, referenceKeys } from '../reference/topk.js';

/** A routing problem with random logits whose keys are far enough apart to have one answer. */
export interface TopkCase {
  readonly name: string;
  readonly tokens: number;
  readonly experts: number;
  readonly config: TopkConfig;
  readonly logitsDtype?: 'f32' | 'bf16';
  /** Added to all logits. */
  readonly shift?: number;
  /** Size of the bias, default 0.5. */
  readonly biasScale?: number;
  /** Every third row is padding. */
  readonly padding?: boolean;
}

const m3: TopkConfig = { topK: 4, method: 'miniMax2', routedScalingFactor: 2 };
const methods = Object.keys(routingMethods) as RoutingMethod[];

/** Keys that differ by less may be ordered differently by rounding. */
const smallestGap = 2e-6;

/** Shapes, methods and defects of peers. */
export const topkCases: readonly TopkCase[] = [
  ...[1, 3, 31, 32, 33, 130, 257].map((tokens) => ({
    name: `M3 router, ${tokens} tokens`,
    tokens,
    experts: 128,
    config: m3,
  })),
  ...methods.flatMap((method) => methodCases(method)),
  ...sizes([4, 1], [8, 7], [16, 4], [64, 8], [72, 6], [384, 8], [512, 22], [896, 16], [4096, 32]),
  group('DeepSeek-V3', 'deepseekV3', 256, 8, 8, 4),
  group('DeepSeek-V2', 'groupedSoftmax', 160, 6, 8, 3),
  group('4 groups, 2 kept', 'deepseekV3', 16, 3, 4, 2),
  group('groups of two', 'deepseekV3', 16, 4, 8, 4),
  group('groups of one', 'deepseekV3', 16, 4, 16, 4),
  { name: 'bf16 logits', tokens: 33, experts: 128, config: m3, logitsDtype: 'bf16' },
  {
    name: 'all logits negative (flashinfer#2822)',
    tokens: 17,
    experts: 128,
    config: { topK: 4, method: 'renormalize' },
    shift: -100,
  },
  {
    name: 'a bias of 1000 leaves the weights exact (flashinfer#3875)',
    tokens: 17,
    experts: 64,
    config: m3,
    biasScale: 1000,
  },
  { name: 'padding rows', tokens: 31, experts: 128, config: m3, padding: true },
  {
    name: 'a fused shared expert behind the routed ones (sglang#36576)',
    tokens: 9,
    experts: 128,
    config: { ...m3, numFusedSharedExperts: 1 },
    padding: true,
  },
  {
    name: 'a fused shared expert when the output is scaled',
    tokens: 9,
    experts: 128,
    config: { ...m3, numFusedSharedExperts: 2, scaleOwner: 'output' },
  },
];

/** The logits, bias and positions of a case; the same for the same name. */
export function makeTopkInput(testCase: TopkCase): ReferenceTopkInput {
  const { tokens, experts, config, name, biasScale = 0.5 } = testCase;
  const random = seededRandom(name.length * 7919 + tokens * 31 + experts);
  const hasBias = routingRecipes[config.method].bias !== 'unused';
  const input = {
    logits: new Float32Array(tokens * experts),
    tokens,
    experts,
    ...(hasBias ? { bias: random.floats(experts, biasScale) } : {}),
    ...(testCase.padding ? { positions: Int32Array.from({ length: tokens }, paddingOf) } : {}),
  };
  for (let token = 0; token < tokens; token += 1) {
    const row = () => shuffledGrid(testCase, random);
    do {
      input.logits.set(row(), token * experts);
    } while (hasNearTie(input, config, token));
  }
  return input;
}

function methodCases(method: RoutingMethod): TopkCase[] {
  const { normalize } = routingRecipes[method];
  const isFree = normalize === 'sum' || normalize === 'flooredSum';
  const ks = method === 'llama4' ? [1] : [1, 4];
  return ks.flatMap((topK) => {
    const config = { topK, method, routedScalingFactor: 2 };
    // k = 1 for every method: sglang#40187 read weights that were never written.
    const base = { name: `${method}, k = ${topK}, scale 2`, tokens: 5, experts: 16, config };
    if (!isFree) return [base];
    const other = !routingRecipes[method].renormalizeByDefault;
    const name = `${base.name}, renormalize ${other} (sglang-jax#1282)`;
    return [base, { ...base, name, config: { ...config, renormalize: other } }];
  });
}

function sizes(...pairs: readonly (readonly [number, number])[]): TopkCase[] {
  return pairs.map(([experts, topK]) => ({
    name: `${topK} of ${experts}`,
    tokens: 6,
    experts,
    config: { ...m3, topK },
  }));
}

function group(
  name: string,
  method: RoutingMethod,
  experts: number,
  topK: number,
  nGroup: number,
  topkGroup: number,
): TopkCase {
  const config = { topK, method, nGroup, topkGroup, routedScalingFactor: 2.5 };
  return { name: `${name} (flashinfer#2575)`, tokens: 33, experts, config };
}

function paddingOf(_: unknown, token: number): number {
  return token % 3 === 1 ? -1 : token;
}

/** Evenly spaced logits in [−4, 4), a little moved, in random order; exact in bf16 when asked. */
function shuffledGrid(
  { experts, shift = 0, logitsDtype }: TopkCase,
  random: ReturnType<typeof seededRandom>,
): number[] {
  const step = 8 / experts;
  const jitter = logitsDtype === 'bf16' ? 0 : 0.25;
  const row = Array.from(
    { length: experts },
    (_, e) => -4 + step * (e + random.uniform(-jitter, jitter)) + shift,
  );
  for (let e = experts - 1; e > 0; e -= 1) {
    const other = random.integer(0, e + 1);
    [row[e], row[other]] = [row[other] ?? 0, row[e] ?? 0];
  }
  return row;
}

function hasNearTie(input: ReferenceTopkInput, config: TopkConfig, token: number): boolean {
  const { keys } = referenceKeys(input, config, token);
  const order = [...keys].sort((a, b) => b - a).slice(0, config.topK + 1);
  return order.some((key, i) => i > 0 && (order[i - 1] ?? 0) - key < smallestGap * Math.abs(key));
}
