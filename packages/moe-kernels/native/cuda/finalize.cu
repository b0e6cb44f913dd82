// Finalize on CUDA: the weighted sum of a token's rows, in ascending slot order; the addend is added to
// the rounded sum, as a launch of its own would.
//
// A thread has 16 bytes of a token's columns; the grid is strips of columns by tokens, resident at
// once, and strides over the tokens. In a decode step it waits for memory twice, for the slots and for
// the rows that they name: everything else is asked for beside them. Multiply and add are rounded
// apart: the bits of the CPU.
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/vector.cuh"
#include "moe_kernels/finalize.h"

namespace moe_kernels::cuda {
namespace {

using namespace dense_kernels::cuda;

constexpr int kAhead = 5;  // rows on their way at once: four experts and a shared one

// The row of a slot, or -1.
__device__ __forceinline__ int32_t row_of(const FinalizeParams& p, const int32_t* slots, int32_t j) {
  const int32_t row = j < p.k ? slots[j] : -1;
  return static_cast<uint32_t>(row) < static_cast<uint32_t>(p.tokens * p.k) ? row : -1;
}

template <typename T>
__device__ __forceinline__ float add_addend(float sum, float addend) {
  return __fadd_rn(to_f32(round_to<T>(sum)), addend);
}

// 16 bytes of columns of one token, all of them aligned.
template <typename T>
__device__ __forceinline__ void finalize_pack(const FinalizeParams& p, int64_t token, int32_t column) {
  const T* expert_out = static_cast<const T*>(p.expert_out) + column;
  const int32_t* slots = static_cast<const int32_t*>(p.slots) + token * p.k;
  const float* weights = static_cast<const float*>(p.weights) + token * p.k;
  uint4 addend = {};
  if (p.addend != nullptr) {
    addend = load16(static_cast<const T*>(p.addend) + token * p.hidden + column);
  }
  Pack<T> sum = {};
#pragma unroll 1
  for (int32_t first = 0; first < p.k; first += kAhead) {
    int32_t rows[kAhead];
    float factors[kAhead];
    uint4 words[kAhead];
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      rows[j] = row_of(p, slots, first + j);
      factors[j] = first + j < p.k ? weights[first + j] : 0.0f;
    }
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      if (rows[j] >= 0) words[j] = load16(expert_out + int64_t{rows[j]} * p.hidden);
    }
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      if (rows[j] < 0) continue;
      const Pack<T> row = unpack(words[j], expert_out);
#pragma unroll
      for (int i = 0; i < kPack<T>; ++i) {
        sum.value[i] = __fadd_rn(sum.value[i], __fmul_rn(factors[j], row.value[i]));
      }
    }
  }
  const Pack<T> other = unpack(addend, expert_out);
#pragma unroll
  for (int i = 0; i < kPack<T>; ++i) {
    sum.value[i] = __fmul_rn(sum.value[i], p.scale);
    if (p.addend != nullptr) sum.value[i] = add_addend<T>(sum.value[i], other.value[i]);
  }
  store16(static_cast<T*>(p.out) + token * p.hidden + column, repack(sum));
}

// The same sums one by one, for rows that do not start at multiples of 16 bytes.
template <typename T>
__device__ __noinline__ void finalize_columns(const FinalizeParams& p, int64_t token, int32_t begin) {
  const int32_t* slots = static_cast<const int32_t*>(p.slots) + token * p.k;
  const float* weights = static_cast<const float*>(p.weights) + token * p.k;
  const int32_t end = min(begin + kPack<T>, p.hidden);
#pragma unroll 1
  for (int32_t column = begin; column < end; ++column) {
    const T* expert_out = static_cast<const T*>(p.expert_out) + column;
    float sum = 0.0f;
#pragma unroll 1
    for (int32_t j = 0; j < p.k; ++j) {
      const int32_t row = row_of(p, slots, j);
      if (row < 0) continue;
      const float value = to_f32(expert_out[int64_t{row} * p.hidden]);
      sum = __fadd_rn(sum, __fmul_rn(weights[j], value));
    }
    sum = __fmul_rn(sum, p.scale);
    const int64_t at = token * p.hidden + column;
    if (p.addend != nullptr) sum = add_addend<T>(sum, to_f32(static_cast<const T*>(p.addend)[at]));
    static_cast<T*>(p.out)[at] = round_to<T>(sum);
  }
}

template <typename T>
__device__ __forceinline__ void finalize(const FinalizeParams& p) {
  const bool is_aligned = rows_are_aligned(static_cast<const T*>(p.expert_out), p.hidden) &&
                          rows_are_aligned(static_cast<const T*>(p.addend), p.hidden) &&
                          rows_are_aligned(static_cast<const T*>(p.out), p.hidden);
  const int32_t column = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x) * kPack<T>;
  wait_and_trigger();
  if (column >= p.hidden) return;
#pragma unroll 1
  for (int64_t token = blockIdx.y; token < p.tokens; token += gridDim.y) {
    if (is_aligned) {
      finalize_pack<T>(p, token, column);
    } else {
      finalize_columns<T>(p, token, column);
    }
  }
}

}  // namespace
}  // namespace moe_kernels::cuda

// ---- entries --------------------------------------------------------------------------------
extern "C" __global__ void __launch_bounds__(256)
    finalize_f32(__grid_constant__ const FinalizeParams p) {
  moe_kernels::cuda::finalize<float>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    finalize_bf16(__grid_constant__ const FinalizeParams p) {
  moe_kernels::cuda::finalize<dense_kernels::cuda::Bf16>(p);
}
