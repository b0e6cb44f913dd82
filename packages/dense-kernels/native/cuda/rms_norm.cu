// RMSNorm with optional residual addition on CUDA: a block a row. Each thread keeps its first packs
// of 16 bytes in registers between the two passes; longer rows are read again, from cache. Bound by
// memory with many rows, by latency with one. The number of threads, and so the order of the sum,
// depends on the width alone.
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/reduce.cuh"
#include "dense_kernels/cuda/vector.cuh"
#include "dense_kernels/rms_norm.h"

namespace dense_kernels::cuda {
namespace {

constexpr int kKeptPacks = 2;

// The pointers of one row; residual and residual_out are null without a residual.
template <typename T>
struct NormRow {
  const T* x;
  const T* residual;
  T* residual_out;
  T* y;
  bool x_aligned, residual_aligned, residual_out_aligned, y_aligned;
};

template <typename T>
__device__ __forceinline__ NormRow<T> row_of(const RmsNormParams& p, int64_t index) {
  const int64_t token = index / p.heads;
  const int64_t head = index % p.heads;
  const int64_t dense = index * p.hidden;
  const T* residual = static_cast<const T*>(p.residual);
  NormRow<T> row;
  row.x = static_cast<const T*>(p.x) + token * p.x_token_stride + head * p.x_head_stride;
  row.residual = residual ? residual + dense : nullptr;
  row.residual_out = residual ? static_cast<T*>(p.residual_out) + dense : nullptr;
  row.y = static_cast<T*>(p.y) + token * p.y_token_stride + head * p.y_head_stride;
  row.x_aligned = is_aligned(row.x);
  row.residual_aligned = is_aligned(row.residual);
  row.residual_out_aligned = is_aligned(row.residual_out);
  row.y_aligned = is_aligned(row.y);
  return row;
}

// x + residual, unrounded; zeros behind the row.
template <typename T>
__device__ __forceinline__ Pack<T> summed(const NormRow<T>& row, int column, int hidden) {
  Pack<T> s = load_pack(row.x + column, row.x_aligned, hidden - column);
  if (row.residual) {
    const Pack<T> r = load_pack(row.residual + column, row.residual_aligned, hidden - column);
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) s.value[i] += r.value[i];
  }
  return s;
}

template <typename T>
__device__ __forceinline__ float sum_of_squares(const Pack<T>& s) {
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kPack<T>; ++i) sum += s.value[i] * s.value[i];
  return sum;
}

// As many weights as a pack of T has values.
template <typename T, typename W>
__device__ __forceinline__ Pack<T> load_weights(const W* weight, int column, int hidden) {
  Pack<T> w;
  constexpr int kBytes = kPack<T> * sizeof(W);
  constexpr int kAlign = kBytes < 16 ? kBytes : 16;
  if (is_aligned(weight + column, kAlign) && hidden - column >= kPack<T>) {
    if constexpr (sizeof(W) == 4) {
#pragma unroll
      for (int i = 0; i < kPack<T>; i += 4) {
        const Pack<float> part = unpack(load16(weight + column + i), weight);
#pragma unroll
        for (int k = 0; k < 4; ++k) w.value[i + k] = part.value[k];
      }
    } else {
#pragma unroll
      for (int i = 0; i < kPack<T>; i += 4) {
        const uint2 word = *reinterpret_cast<const uint2*>(weight + column + i);
        w.value[i] = bf16x2_low(word.x);
        w.value[i + 1] = bf16x2_high(word.x);
        w.value[i + 2] = bf16x2_low(word.y);
        w.value[i + 3] = bf16x2_high(word.y);
      }
    }
    return w;
  }
#pragma unroll
  for (int i = 0; i < kPack<T>; ++i) {
    w.value[i] = column + i < hidden ? to_f32(weight[column + i]) : 0.0f;
  }
  return w;
}

// residual_out may be residual and y may be x: a column is written by the thread that read it.
template <typename T, typename W>
__device__ __forceinline__ void write_pack(const RmsNormParams& p, const NormRow<T>& row,
                                           const Pack<T>& s, float inverse, int column) {
  const int left = p.hidden - column;
  const Pack<T> w = load_weights<T>(static_cast<const W*>(p.weight), column, p.hidden);
  Pack<T> y;
#pragma unroll
  for (int i = 0; i < kPack<T>; ++i) {
    y.value[i] = s.value[i] * inverse * (p.weight_offset + w.value[i]);
  }
  if (row.residual) store_pack(row.residual_out + column, s, row.residual_out_aligned, left);
  store_pack(row.y + column, y, row.y_aligned, left);
}

template <typename T, typename W>
__device__ __forceinline__ void norm_row(const RmsNormParams& p, float* scratch) {
  const NormRow<T> row = row_of<T>(p, blockIdx.x);
  const int hidden = p.hidden;
  const int first = threadIdx.x * kPack<T>;
  const int step = blockDim.x * kPack<T>;
  // 1. mean of squares of the unrounded sum
  Pack<T> kept[kKeptPacks];
  float squares = 0.0f;
#pragma unroll
  for (int k = 0; k < kKeptPacks; ++k) {
    const int column = first + k * step;
    if (column < hidden) {
      kept[k] = summed(row, column, hidden);
      squares += sum_of_squares(kept[k]);
    }
  }
  for (int column = first + kKeptPacks * step; column < hidden; column += step) {
    squares += sum_of_squares(summed(row, column, hidden));
  }
  const float mean = block_sum(squares, scratch) / static_cast<float>(hidden);
  const float inverse = 1.0f / sqrtf(mean + p.epsilon);
  // 2. scale, weigh, round once
#pragma unroll
  for (int k = 0; k < kKeptPacks; ++k) {
    const int column = first + k * step;
    if (column < hidden) write_pack<T, W>(p, row, kept[k], inverse, column);
  }
  for (int column = first + kKeptPacks * step; column < hidden; column += step) {
    write_pack<T, W>(p, row, summed(row, column, hidden), inverse, column);
  }
}

// The weights are cold in every step of a model; they come while the block waits for x.
template <typename T>
__device__ __forceinline__ void prefetch_weights(const RmsNormParams& p) {
  const char* weight = static_cast<const char*>(p.weight);
  const int bytes = p.weight_is_bf16 ? sizeof(Bf16) : sizeof(float);
  for (int column = threadIdx.x * kPack<T>; column < p.hidden; column += blockDim.x * kPack<T>) {
    prefetch(weight + static_cast<int64_t>(column) * bytes);
  }
}

template <typename T>
__device__ __forceinline__ void rms_norm(const RmsNormParams& p) {
  __shared__ float scratch[kWarp];
  prefetch_weights<T>(p);
  wait_and_trigger();
  if (p.weight_is_bf16) {
    norm_row<T, Bf16>(p, scratch);
  } else {
    norm_row<T, float>(p, scratch);
  }
}

}  // namespace
}  // namespace dense_kernels::cuda

extern "C" __global__ void __launch_bounds__(1024)
    rms_norm_bf16(__grid_constant__ const RmsNormParams p) {
  dense_kernels::cuda::rms_norm<dense_kernels::cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(1024)
    rms_norm_f32(__grid_constant__ const RmsNormParams p) {
  dense_kernels::cuda::rms_norm<float>(p);
}
