// Scores of one token's experts, by one warp. The bits of the CPU (dense_kernels/cpu/lanes.h and
// cpu/body/topk_scores.h): the same exponential, nothing contracted, sums over sixteen logical
// lanes joined in the same tree. sqrt(softplus) alone is the device library's.
#ifndef MOE_KERNELS_CUDA_DEVICE_TOPK_SCORES_CUH
#define MOE_KERNELS_CUDA_DEVICE_TOPK_SCORES_CUH

#include <math_constants.h>
#include <stdint.h>

#include "dense_kernels/cuda/reduce.cuh"

namespace moe_kernels::cuda {

using dense_kernels::cuda::kAllLanes;
using dense_kernels::cuda::kWarp;
using dense_kernels::cuda::lane_id;

constexpr int kLogicalLanes = 16;

// a * b + c with both roundings.
__device__ __forceinline__ float multiply_add(float a, float b, float c) {
  return __fadd_rn(__fmul_rn(a, b), c);
}

// e^x as lanes.h computes it: x = n ln2 + r, a polynomial for e^r, 2^n in two factors.
__device__ __forceinline__ float exp_rounded(float argument) {
  const float kLog2E = 1.44269504088896341f;
  const float kLn2High = 0.693145751953125f;
  const float kLn2Low = 1.42860682030941723e-6f;
  const float kRounder = 12582912.0f;
  const float capped = 89.0f < argument ? 89.0f : argument;  // a NaN stays
  const float x = -104.0f > capped ? -104.0f : capped;
  const float shifted = multiply_add(x, kLog2E, kRounder);
  const float n = __fsub_rn(shifted, kRounder);
  const float rest = __fsub_rn(__fsub_rn(x, __fmul_rn(n, kLn2High)), __fmul_rn(n, kLn2Low));
  float p = multiply_add(rest, 1.98412698e-4f, 1.38888889e-3f);
  p = multiply_add(p, rest, 8.33333333e-3f);
  p = multiply_add(p, rest, 4.16666667e-2f);
  p = multiply_add(p, rest, 1.66666667e-1f);
  p = multiply_add(p, rest, 0.5f);
  p = __fadd_rn(multiply_add(__fmul_rn(p, rest), rest, rest), 1.0f);
  const int32_t exponent = __float_as_int(shifted) - 0x4B400000;
  const int32_t half = exponent >> 1;
  const float first = __uint_as_float(static_cast<uint32_t>(half + 127) << 23);
  const float second = __uint_as_float(static_cast<uint32_t>(exponent - half + 127) << 23);
  return __fmul_rn(__fmul_rn(p, first), second);
}

// 1 / (1 + e^-x) from e^-|x|, so that a tiny score keeps its digits.
__device__ __forceinline__ float sigmoid_rounded(float x) {
  const float power = exp_rounded(__uint_as_float(__float_as_uint(x) | 0x80000000u));
  return __fdiv_rn(x < 0.0f ? power : 1.0f, __fadd_rn(1.0f, power));
}

// sqrt(log(1 + e^z)) without overflow for large z.
__device__ __forceinline__ float sqrt_softplus(float z) {
  return sqrtf(z > 20.0f ? z : log1pf(expf(z)));
}

// The largest of `count` numbers; NaN is passed over, -inf if there is no number.
__device__ __forceinline__ float largest_of(const float* x, int count) {
  float most = -CUDART_INF_F;
#pragma unroll 1
  for (int e = lane_id(); e < count; e += kWarp) most = fmaxf(most, x[e]);
  return dense_kernels::cuda::warp_max(most);
}

// Softmax of a row whose largest logit is infinite: +inf shares the weight evenly, a row without
// anything above -inf scores 0.
__device__ __forceinline__ void softmax_infinite(const float* logits, float* scores, int count,
                                                 float largest) {
  int equals = 0;
#pragma unroll 1
  for (int e = lane_id(); e < count; e += kWarp) equals += logits[e] == largest;
  equals = dense_kernels::cuda::warp_sum(equals);
  const float share = largest > 0.0f ? __fdiv_rn(1.0f, static_cast<float>(equals)) : 0.0f;
#pragma unroll 1
  for (int e = lane_id(); e < count; e += kWarp) {
    const float z = logits[e];
    scores[e] = z == z ? (z == largest ? share : 0.0f) : z;
  }
  __syncwarp();
}

// Scores of logits in shared memory; NaN logits stay NaN and do not disturb the others. The arrays
// may be one. Out of line: a recipe may call it from two places.
static __device__ __noinline__ void softmax(const float* logits, float* scores, int count) {
  const float largest = largest_of(logits, count);
  if (isinf(largest)) {
    softmax_infinite(logits, scores, count, largest);
    return;
  }
#pragma unroll 1
  for (int e = lane_id(); e < count; e += kWarp) {
    scores[e] = exp_rounded(__fsub_rn(logits[e], largest));
  }
  __syncwarp();
  float sum = 0.0f;
#pragma unroll 1
  for (int e = lane_id(); lane_id() < kLogicalLanes && e < count; e += kLogicalLanes) {
    sum = __fadd_rn(sum, scores[e] == scores[e] ? scores[e] : 0.0f);
  }
  double total = sum;
#pragma unroll
  for (int distance = kLogicalLanes / 2; distance > 0; distance /= 2) {
    total += __shfl_down_sync(kAllLanes, total, distance);
  }
  const float divisor = __shfl_sync(kAllLanes, static_cast<float>(total), 0);
  __syncwarp();
#pragma unroll 1
  for (int e = lane_id(); e < count; e += kWarp) scores[e] = __fdiv_rn(scores[e], divisor);
  __syncwarp();
}

}  // namespace moe_kernels::cuda

#endif
