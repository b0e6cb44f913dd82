// What sampling and top-logprobs share: logits made safe, their maximum, the log of the sum of
// exponentials. NaN counts as -inf, +inf as the largest float, so no difference below is NaN.
#ifndef DENSE_KERNELS_CPU_BODY_LOG_SOFTMAX_H
#define DENSE_KERNELS_CPU_BODY_LOG_SOFTMAX_H

#include "dense_kernels/cpu/lanes.h"

namespace {

constexpr float kLargestFloat = 3.40282346638528860e38f;
constexpr int kSumBlock = 256;  // elements summed in fp32 lanes before they go to double

LANES_INLINE float safe_logit(float logit) {
  if (!(logit == logit)) return -__builtin_inff();
  return logit > kLargestFloat ? kLargestFloat : logit;
}

// Up to sixteen safe logits; missing ones are -inf.
LANES_INLINE Floats load_logits(const float* from, int count) {
  if (count >= kLanes) return without_nan(at_most(splat(kLargestFloat), load(from)));
  float padded[kLanes];
  for (int i = 0; i < kLanes; ++i) padded[i] = i < count ? from[i] : -__builtin_inff();
  return without_nan(at_most(splat(kLargestFloat), load(padded)));
}

// -inf for a row without a usable logit.
inline float largest_logit(const float* logits, int vocab) {
  Floats most = splat(-__builtin_inff());
  for (int i = 0; i < vocab; i += kLanes) most = at_least(most, load_logits(logits + i, vocab - i));
  return max_lanes(most);
}

// log of the sum of exp(logit - largest); `largest` is finite.
inline double log_of_sum(const float* logits, int vocab, float largest) {
  double sum = 0.0;
  for (int block = 0; block < vocab; block += kSumBlock) {
    const int end = vocab - block < kSumBlock ? vocab : block + kSumBlock;
    Floats lanes = splat(0.0f);
    for (int i = block; i < end; i += kLanes) {
      lanes = lanes + exp(load_logits(logits + i, vocab - i) - splat(largest));
    }
    sum += sum_lanes(lanes);
  }
  return __builtin_log(sum);
}

// NaN when the row has no usable logit.
inline float log_probability(float logit, float largest, double log_sum) {
  if (!(largest >= -kLargestFloat)) return __builtin_nanf("");
  return static_cast<float>(static_cast<double>(safe_logit(logit)) - largest - log_sum);
}

}  // namespace

#endif
