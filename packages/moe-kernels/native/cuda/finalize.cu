// Finalize on CUDA: the weighted sum of a token's rows, in ascending slot order; the addend is
// added to the rounded sum, as a launch of its own would.
//
// A thread has 16 bytes of a token's columns; the grid is strips of columns by tokens, resident at
// once, and strides over the tokens. It waits for memory twice, for the slots and for the rows that
// they name: everything else is asked for beside them, and where the slots are older than the
// kernels that still run, they come before those are waited for. Multiply and add are rounded
// apart: the bits of the CPU.
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/vector.cuh"
#include "moe_kernels/finalize.h"

namespace moe_kernels::cuda {
namespace {

using namespace dense_kernels::cuda;

constexpr int kAhead = 5;  // rows on their way at once: four experts and a shared one

// A row that exists, or -1.
__device__ __forceinline__ int32_t checked(const FinalizeParams& p, int32_t row) {
  return static_cast<uint32_t>(row) < static_cast<uint32_t>(p.tokens * p.k) ? row : -1;
}

// Neighbouring slots of a token, and their weights.
struct Slots {
  int32_t rows[kAhead];
  float factors[kAhead];

  // Past the first-level cache, which may hold what lay here before.
  __device__ __forceinline__ void load(const FinalizeParams& p, int64_t token, int32_t first) {
    const int32_t* slots = static_cast<const int32_t*>(p.slots) + token * p.k + first;
    const float* weights = static_cast<const float*>(p.weights) + token * p.k + first;
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      rows[j] = first + j < p.k ? __ldcg(slots + j) : -1;
      factors[j] = first + j < p.k ? __ldcg(weights + j) : 0.0f;
    }
  }
};

template <typename T>
__device__ __forceinline__ float add_addend(float sum, float addend) {
  return __fadd_rn(to_f32(round_to<T>(sum)), addend);
}

// 16 bytes of columns of one token, all of them aligned; its first slots have been asked for.
template <typename T>
__device__ __forceinline__ void finalize_pack(const FinalizeParams& p, int64_t token, int32_t column,
                                              Slots& slots) {
  const T* expert_out = static_cast<const T*>(p.expert_out) + column;
  uint4 addend = {};
  if (p.addend != nullptr) {
    addend = load16(static_cast<const T*>(p.addend) + token * p.hidden + column);
  }
  Pack<T> sum = {};
#pragma unroll 1
  for (int32_t first = 0; first < p.k; first += kAhead) {
    if (first > 0) slots.load(p, token, first);
    uint4 words[kAhead];
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      slots.rows[j] = checked(p, slots.rows[j]);
      if (slots.rows[j] >= 0) words[j] = load16(expert_out + int64_t{slots.rows[j]} * p.hidden);
    }
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      if (slots.rows[j] < 0) continue;
      const Pack<T> row = unpack(words[j], expert_out);
#pragma unroll
      for (int i = 0; i < kPack<T>; ++i) {
        sum.value[i] = __fadd_rn(sum.value[i], __fmul_rn(slots.factors[j], row.value[i]));
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
      const int32_t row = checked(p, slots[j]);
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
  int64_t token = blockIdx.y;
  Slots slots;
  if (p.settled == 0) wait_and_trigger();
  slots.load(p, token, 0);
  if (p.settled != 0) wait_and_trigger();
  if (column >= p.hidden) return;
#pragma unroll 1
  while (true) {
    if (is_aligned) {
      finalize_pack<T>(p, token, column, slots);
    } else {
      finalize_columns<T>(p, token, column);
    }
    token += gridDim.y;
    if (token >= p.tokens) return;
    slots.load(p, token, 0);
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
