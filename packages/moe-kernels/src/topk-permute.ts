import { type ExpertRange, resolveExpertRange } from './arguments/expert-range.js';
import type { Permutation } from './arguments/permutation.js';
import { moeKernel } from './module.js';
import { withoutPdl } from './pdl.js';
import { permute, permuteOutputs } from './permute.js';
import type { TopkConfig } from './routing/topk-config.js';
import {
  type PreparedTopk,
  prepareTopk,
  type TopkInput,
  type TopkOptions,
  type TopkResult,
  topk,
} from './topk.js';
import { planTopkPermute, type TopkPermutePlan } from './topk-permute.plan.js';

/** Where and how the operation runs. */
export type TopkPermuteOptions = Pick<TopkOptions, 'stream' | 'allocator' | 'pdl'>;

/** Tokens with their experts, and the pairs (token, slot) grouped by local expert. */
export interface RoutedTokens {
  readonly topk: TopkResult;
  readonly permutation: Permutation;
  /** What was launched, and why not less. */
  readonly plan: TopkPermutePlan;
}

const operation = 'topkPermute';

/**
 * `topk`, then `permute` of its ids: the same bits, in one launch where tokens are few and the
 * recipe is simple, else in two. The plan in the result says which, and why.
 *
 * No tokens: empty outputs, nothing is launched, everything is still checked.
 *
 * @throws as `topk` and `permute`
 * @see docs/topk-permute.md
 */
export function topkPermute(
  input: TopkInput,
  config: TopkConfig,
  range: ExpertRange,
  options: TopkPermuteOptions,
): RoutedTokens {
  const { stream, pdl = withoutPdl } = options;
  const prepared = prepareTopk(operation, input, config, options);
  const { offset, local } = resolveExpertRange(range, operation);
  const shape = { ...prepared.shape, localExperts: local };
  const plan = planTopkPermute(shape, stream.device.limits, pdl);
  if (plan.path === 'fused') {
    const place = { offset, local };
    return { ...launchFused(input, prepared, place, { ...options, plan }), plan };
  }
  const result = topk(input, config, { ...options, out: prepared.out });
  return { topk: result, permutation: permute(result.ids, range, options), plan };
}

function launchFused(
  input: TopkInput,
  { settings, shape, out }: PreparedTopk,
  { offset, local }: { readonly offset: number; readonly local: number },
  options: TopkPermuteOptions & { readonly plan: TopkPermutePlan },
): Omit<RoutedTokens, 'plan'> {
  const { stream, plan } = options;
  const { tokens, experts, k, shared } = shape;
  const permutation = permuteOutputs([tokens, k + shared], local, options);
  const [step] = plan.steps;
  if (step === undefined) return { topk: out, permutation };
  const { groups: _, kept_groups: _kept, group_rule: _rule, ...recipe } = settings;
  stream.launch(moeKernel(stream, step.kernel), step.config, {
    logits: input.logits,
    bias: input.routingBias ?? null,
    positions: input.positions ?? null,
    ids: out.ids,
    weights: out.weights,
    status: input.status ?? null,
    offsets: permutation.offsets,
    rows: permutation.rows,
    slots: permutation.slots,
    tokens,
    experts,
    expert_offset: offset,
    local_experts: local,
    rehearse: step.pdl.enabled ? 1 : 0,
    ...recipe,
  });
  return { topk: out, permutation };
}
