// Logits made safe, their order, and log-probabilities, for sampling and top-logprobs. NaN counts
// as
// -inf, +inf as the largest float, so no difference below is NaN.
#ifndef DENSE_KERNELS_CUDA_LOG_SOFTMAX_CUH
#define DENSE_KERNELS_CUDA_LOG_SOFTMAX_CUH

#include <stdint.h>

#include "dense_kernels/cuda/reduce.cuh"
#include "dense_kernels/cuda/vector.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr float kLargestFloat = 3.40282346638528860e38f;

__device__ __forceinline__ float minus_infinity() { return __uint_as_float(0xff800000u); }
__device__ __forceinline__ float quiet_nan() { return __uint_as_float(0x7fc00000u); }

__device__ __forceinline__ float safe_logit(float logit) {
  if (!(logit == logit)) return minus_infinity();
  return logit > kLargestFloat ? kLargestFloat : logit;
}

// Bits whose unsigned order is the order of the logits; -0 and +0 tie.
__device__ __forceinline__ uint32_t ordered_bits(float logit) {
  const uint32_t bits = __float_as_uint(safe_logit(logit) + 0.0f);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// Four neighbouring ids from `id` on; those behind the vocabulary are -inf. Which thread has which
// ids does not depend on the alignment, so neither do the bits of a sum.
__device__ __forceinline__ void load_logits(const float* logits, int64_t id, int vocab, bool aligned,
                                            float (&value)[4]) {
  if (aligned && id + 4 <= vocab) {
    const Pack<float> pack = unpack(load16(logits + id), logits);
#pragma unroll
    for (int i = 0; i < 4; ++i) value[i] = safe_logit(pack.value[i]);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    value[i] = id + i < vocab ? safe_logit(logits[id + i]) : minus_infinity();
  }
}

// What is known of a row when all its ids were seen.
struct RowFacts {
  float largest;   // -inf for a row without a usable logit
  int32_t id;      // the lowest id with that logit
  double log_sum;  // log of the sum of exp(logit - largest)
};

// The larger logit, the lower id where they tie.
__device__ __forceinline__ void keep_larger(float& largest, int32_t& id, float other,
                                            int32_t other_id) {
  if (other > largest || (other == largest && other_id < id)) {
    largest = other;
    id = other_id;
  }
}

__device__ __forceinline__ void warp_keep_larger(float& largest, int32_t& id) {
#pragma unroll
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(kAllLanes, largest, offset);
    const int32_t other_id = __shfl_xor_sync(kAllLanes, id, offset);
    keep_larger(largest, id, other, other_id);
  }
}

// NaN when the row has no usable logit.
__device__ __forceinline__ float log_probability(float logit, const RowFacts& row) {
  if (!(row.largest > minus_infinity())) return quiet_nan();
  return static_cast<float>(static_cast<double>(safe_logit(logit)) - row.largest - row.log_sum);
}

}  // namespace
}  // namespace dense_kernels::cuda

#endif
