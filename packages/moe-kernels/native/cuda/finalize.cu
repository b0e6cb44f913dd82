// Finalize on CUDA: the weighted sum of a token's rows, in ascending slot order; the addend is added to
// the rounded sum, as a launch of its own would.
//
// One unit is 256 neighbouring packs of 16 bytes of one token; the plan's grid is resident at once
// and strides over the units. Bound by memory. Multiply and add are rounded apart: the bits of the
// CPU.
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/vector.cuh"
#include "moe_kernels/finalize.h"

namespace moe_kernels::cuda {
namespace {

using namespace dense_kernels::cuda;

constexpr int kThreads = 256;
constexpr int kAhead = 4;  // rows on their way at once

// Adds `weight` times the row, or nothing where there is no row.
template <typename T>
__device__ __forceinline__ void add_row(Pack<T>& sum, const Pack<T>& row, float weight) {
#pragma unroll
  for (int i = 0; i < kPack<T>; ++i) {
    sum.value[i] = __fadd_rn(sum.value[i], __fmul_rn(weight, row.value[i]));
  }
}

// Columns [column, column + kPack) of one token.
template <typename T>
__device__ __forceinline__ void finalize_pack(const FinalizeParams& p, int64_t token,
                                              int32_t column, bool rows_aligned,
                                              bool addend_aligned, bool out_aligned) {
  const T* expert_out = static_cast<const T*>(p.expert_out) + column;
  const int64_t rows = int64_t{p.tokens} * p.k;
  const int32_t* slots = static_cast<const int32_t*>(p.slots) + token * p.k;
  const float* weights = static_cast<const float*>(p.weights) + token * p.k;
  const int64_t left = p.hidden - column;
  Pack<T> sum = {};
  for (int32_t first = 0; first < p.k; first += kAhead) {
    Pack<T> row[kAhead];
    bool exists[kAhead];
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      const int64_t slot = first + j < p.k ? slots[first + j] : -1;
      exists[j] = slot >= 0 && slot < rows;
      if (exists[j]) row[j] = load_pack(expert_out + slot * p.hidden, rows_aligned, left);
    }
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      if (exists[j]) add_row(sum, row[j], weights[first + j]);
    }
  }
#pragma unroll
  for (int i = 0; i < kPack<T>; ++i) sum.value[i] = __fmul_rn(sum.value[i], p.scale);
  if (p.addend != nullptr) {
    const T* addend = static_cast<const T*>(p.addend) + token * p.hidden + column;
    const Pack<T> other = load_pack(addend, addend_aligned, left);
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) {
      sum.value[i] = __fadd_rn(to_f32(round_to<T>(sum.value[i])), other.value[i]);
    }
  }
  store_pack(static_cast<T*>(p.out) + token * p.hidden + column, sum, out_aligned, left);
}

template <typename T>
__device__ __forceinline__ void finalize(const FinalizeParams& p) {
  wait_and_trigger();
  constexpr int32_t kColumns = kThreads * kPack<T>;  // of a unit
  const int32_t strips = (p.hidden + kColumns - 1) / kColumns;
  const int64_t units = int64_t{p.tokens} * strips;
  const bool rows_aligned = rows_are_aligned(static_cast<const T*>(p.expert_out), p.hidden);
  const bool addend_aligned = rows_are_aligned(static_cast<const T*>(p.addend), p.hidden);
  const bool out_aligned = rows_are_aligned(static_cast<const T*>(p.out), p.hidden);
  for (int64_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
    const int32_t strip = static_cast<int32_t>(unit % strips);
    const int32_t column = strip * kColumns + static_cast<int32_t>(threadIdx.x) * kPack<T>;
    if (column >= p.hidden) continue;
    finalize_pack<T>(p, unit / strips, column, rows_aligned, addend_aligned, out_aligned);
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
