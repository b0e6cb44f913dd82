// Router top-k on the CPU: the entries, groups, weights and the baseline level.
//
// One token at a time, tokens in parallel. Scores and selection run once per instruction set
// (body/topk_steps.h) with the same bits. Ranks and ties: body/topk_rank.h.
// Cost: `experts` exponentials a token, and the k-entry insertion list, which rarely moves.

#include "moe_kernels/topk.h"

#include <math.h>
#include <string.h>

#include "body/topk_rank.h"
#include "body/topk_scores.h"
#include "body/topk_steps.h"
#include "cuda_runtime/abi.h"
#include "dense_kernels/bf16.h"

namespace {

constexpr int kMaxExperts = 4096;
constexpr int kMaxChosen = 32;
constexpr int kMaxGroups = kMaxExperts;
constexpr float kTinySum = 1e-20f;  // keeps an all-zero row at 0 instead of 0/0

enum Score { kLogit = 0, kSoftmax = 1, kSigmoid = 2, kSqrtSoftplus = 3 };
enum GroupRule { kLargestKey = 0, kTwoLargestKeys = 1 };
enum Normalize { kNone = 0, kSum = 1, kFlooredSum = 2, kSoftmaxOfChosen = 3 };

// One token's rows while it is worked on.
struct Row {
  float logits[kMaxExperts];
  float scores[kMaxExperts];
  float keys[kMaxExperts];
};
static_assert(kMaxExperts % kTopkLanes == 0 && kMaxChosen % kTopkLanes == 0);

int id_of(uint64_t rank) { return (int)(0xFFFFFFFFu - (uint32_t)rank); }

void choose(const float* keys, int count, int k, bool nan_first, uint64_t* best) {
  for (int e = 0; e < count; ++e) insert_rank(best, k, rank_of(keys[e], e, nan_first));
}

constexpr TopkSteps kBaseline = {score_sigmoid, score_softmax, choose};
#if CRT_X86
constexpr TopkSteps kAvx2 = {topk_sigmoid_avx2, topk_softmax_avx2, topk_choose_avx2};
#endif

void pad_logits(float* logits, int count) {
  for (int e = count; e % kTopkLanes != 0; ++e) logits[e] = -INFINITY;
}

// log(1 + e^z) without overflow for large z.
float softplus(float z) { return z > 20.0f ? z : log1pf(expf(z)); }

void score_row(const TopkParams* p, const TopkSteps& steps, Row* row) {
  switch (p->score) {
    case kSoftmax:
      steps.softmax(row->logits, row->scores, p->experts);
      return;
    case kSigmoid:
      steps.sigmoid(row->logits, row->scores, p->experts);
      return;
    case kSqrtSoftplus:
      for (int e = 0; e < p->experts; ++e) row->scores[e] = sqrtf(softplus(row->logits[e]));
      return;
    default:
      memcpy(row->scores, row->logits, (size_t)p->experts * sizeof(float));
  }
}

// A group's worth: its largest key, or the sum of its two largest (its only key if it has one).
float group_worth(const TopkParams* p, const float* keys, int size) {
  float first = -INFINITY;
  float second = -INFINITY;
  for (int e = 0; e < size; ++e) {
    const float key = keys[e];
    if (key > first) {
      second = first;
      first = key;
    } else if (key > second) {
      second = key;
    }
  }
  return p->group_rule == kTwoLargestKeys && size > 1 ? first + second : first;
}

// Makes the experts outside the best groups unselectable. Biased keys may be negative, so their
// mask is -inf; the softmax rule masks with 0 as DeepSeek-V2 does. A masked expert weighs 0.
void mask_groups(const TopkParams* p, Row* row) {
  const int size = p->experts / p->groups;
  uint64_t ranks[kMaxGroups];
  for (int g = 0; g < p->groups; ++g) {
    ranks[g] = rank_of(group_worth(p, row->keys + g * size, size), g, false);
  }
  const float mask = p->group_rule == kTwoLargestKeys ? -INFINITY : 0.0f;
  for (int g = 0; g < p->groups; ++g) {
    int better = 0;
    for (int other = 0; other < p->groups; ++other) better += ranks[other] > ranks[g];
    if (better < p->kept_groups) continue;
    for (int e = g * size; e < (g + 1) * size; ++e) {
      if (!isnan(row->keys[e])) row->keys[e] = mask;  // NaN stays the very last choice
      row->scores[e] = 0.0f;
    }
  }
}

void normalize_sum(const TopkParams* p, float* weights) {
  float sum = 0.0f;
  for (int j = 0; j < p->k; ++j) sum += weights[j];
  const float divisor =
      p->normalize == kFlooredSum ? (sum > kTinySum ? sum : kTinySum) : sum + kTinySum;
  for (int j = 0; j < p->k; ++j) weights[j] /= divisor;
}

// Weights of the chosen experts from their raw scores; the bias is never subtracted back out.
void weigh(const TopkParams* p, const TopkSteps& steps, const Row* row, const int32_t* ids,
           float* weights) {
  if (p->normalize == kSoftmaxOfChosen) {
    float logits[kMaxChosen], shares[kMaxChosen];
    for (int j = 0; j < p->k; ++j) logits[j] = row->scores[ids[j]];
    pad_logits(logits, p->k);
    steps.softmax(logits, shares, p->k);
    memcpy(weights, shares, (size_t)p->k * sizeof(float));
  } else {
    for (int j = 0; j < p->k; ++j) weights[j] = row->scores[ids[j]];
  }
  if (!p->nan_first) {
    for (int j = 0; j < p->k; ++j) weights[j] = isnan(weights[j]) ? 0.0f : weights[j];
  }
  if (p->normalize == kSum || p->normalize == kFlooredSum) normalize_sum(p, weights);
  for (int j = 0; j < p->k; ++j) weights[j] *= p->scale;
}

void select(const TopkParams* p, const TopkSteps& steps, const Row* row, int32_t* ids) {
  uint64_t best[kMaxChosen] = {};
  steps.choose(row->keys, p->experts, p->k, p->nan_first != 0, best);
  for (int j = 0; j < p->k; ++j) ids[j] = id_of(best[j]);
}

// Only the low half of the weight's word may reach the pack: a sign-extended negative weight would
// overwrite the id.
void pack(const int32_t* ids, const float* weights, int32_t* packed, int count) {
  for (int j = 0; j < count; ++j) {
    packed[j] = (int32_t)((uint32_t)ids[j] << 16 | (uint32_t)f32_to_bf16(weights[j]));
  }
}

template <bool kBf16>
void load_logits(const TopkParams* p, int64_t token, Row* row) {
  const int64_t first = token * p->experts;
  if constexpr (kBf16) {
    const uint16_t* from = (const uint16_t*)p->logits + first;
    for (int e = 0; e < p->experts; ++e) row->logits[e] = bf16_to_f32(from[e]);
  } else {
    memcpy(row->logits, (const float*)p->logits + first, (size_t)p->experts * sizeof(float));
  }
  pad_logits(row->logits, p->experts);
}

void report_nan(const TopkParams* p, const Row* row) {
  for (int e = 0; e < p->experts; ++e) {
    if (!isnan(row->logits[e])) continue;
    __atomic_store_n((int32_t*)p->status, 1, __ATOMIC_RELAXED);
    return;
  }
}

template <bool kBf16>
void route_token(const TopkParams* p, const TopkSteps& steps, int64_t token, Row* row,
                 int32_t* ids, float* weights) {
  // 1. scores
  load_logits<kBf16>(p, token, row);
  if (p->status != nullptr) report_nan(p, row);
  score_row(p, steps, row);
  // 2. keys = score (or logit) + bias, experts outside the best groups masked
  const float* base = p->by_logit ? row->logits : row->scores;
  const float* bias = (const float*)p->bias;
  for (int e = 0; e < p->experts; ++e) row->keys[e] = bias ? base[e] + bias[e] : base[e];
  if (p->groups > 1) mask_groups(p, row);
  // 3. the k best
  select(p, steps, row, ids);
  // 4. weights of the raw scores, normalised, scaled
  weigh(p, steps, row, ids, weights);
  // 5. shared experts behind the routed ones, outside of the normalisation
  for (int j = 0; j < p->shared; ++j) {
    ids[p->k + j] = p->experts + j;
    weights[p->k + j] = p->shared_weight;
  }
}

// What a piece of the tokens needs.
struct Routing {
  const TopkParams* p;
  TopkSteps steps;
};

template <bool kBf16>
void route_tokens(void* argument, int64_t begin, int64_t end) {
  const Routing& routing = *(const Routing*)argument;
  const TopkParams* p = routing.p;
  const int32_t* positions = (const int32_t*)p->positions;
  const int slots = p->k + p->shared;
  Row row;
  for (int64_t token = begin; token < end; ++token) {
    int32_t* ids = (int32_t*)p->ids + token * slots;
    float* weights = (float*)p->weights + token * slots;
    if (positions != nullptr && positions[token] < 0) {
      for (int j = 0; j < slots; ++j) ids[j] = -1;
      for (int j = 0; j < slots; ++j) weights[j] = 0.0f;
    } else {
      route_token<kBf16>(p, routing.steps, token, &row, ids, weights);
    }
    if (p->packed != nullptr) pack(ids, weights, (int32_t*)p->packed + token * slots, slots);
  }
}

constexpr int64_t kTokensPerPiece = 8;  // a piece is some microseconds; smaller ones cost wake-ups

void topk(const TopkParams* p, const CpuContext* context, CpuLoopBody body) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  Routing routing = {p, kBaseline};
#if CRT_X86
  if (context->level >= kCpuAvx2) routing.steps = kAvx2;
#endif
  context->parallel_for(context, p->tokens, kTokensPerPiece, body, &routing);
}

}  // namespace

// ---- entries --------------------------------------------------------------------------------
extern "C" void topk_f32(const TopkParams* p, const CpuContext* context) {
  topk(p, context, route_tokens<false>);
}

extern "C" void topk_bf16(const TopkParams* p, const CpuContext* context) {
  topk(p, context, route_tokens<true>);
}
