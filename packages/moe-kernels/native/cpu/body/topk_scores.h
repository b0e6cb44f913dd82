// Sigmoid and softmax over a row of logits, compiled once per instruction set with internal
// linkage. Sixteen logical lanes at every level, sums joined in a fixed tree: the levels give the
// same bits. One exponential and one division an expert.
#ifndef MOE_KERNELS_CPU_BODY_TOPK_SCORES_H
#define MOE_KERNELS_CPU_BODY_TOPK_SCORES_H

#include "dense_kernels/cpu/lanes.h"
#include "topk_steps.h"

namespace {

static_assert(kTopkLanes == kLanes);

inline void score_sigmoid(const float* logits, float* scores, int count) {
  for (int e = 0; e < count; e += kLanes) store(scores + e, sigmoid(load(logits + e)));
}

// Numbers stay, NaN becomes 0.
LANES_INLINE Floats nan_to_zero(const Floats& x) {
  const Floats zero = splat(0.0f);
  Floats r;
  for (int i = 0; i < kParts; ++i) {
    r.part[i] = x.part[i] == x.part[i] ? x.part[i] : zero.part[i];
  }
  return r;
}

// The row of a softmax whose largest logit is infinite, see TopkSteps.
inline void score_infinite(const float* logits, float* scores, int count, float largest) {
  int equals = 0;
  for (int e = 0; e < count; ++e) equals += logits[e] == largest;
  const float share = largest > 0.0f ? 1.0f / static_cast<float>(equals) : 0.0f;
  for (int e = 0; e < count; ++e) {
    const float z = logits[e];
    scores[e] = z == z ? (z == largest ? share : 0.0f) : z;
  }
}

inline void score_softmax(const float* logits, float* scores, int count) {
  Floats most = splat(-__builtin_inff());
  for (int e = 0; e < count; e += kLanes) most = at_least(most, without_nan(load(logits + e)));
  const float largest = max_lanes(most);
  if (__builtin_isinf(largest)) return score_infinite(logits, scores, count, largest);
  Floats sums = splat(0.0f);
  for (int e = 0; e < count; e += kLanes) {
    const Floats power = exp(load(logits + e) - splat(largest));
    sums = sums + nan_to_zero(power);
    store(scores + e, power);
  }
  const Floats sum = splat(static_cast<float>(sum_lanes(sums)));
  for (int e = 0; e < count; e += kLanes) store(scores + e, load(scores + e) / sum);
}

}  // namespace

#endif
