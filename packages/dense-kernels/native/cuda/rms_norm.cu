// RMSNorm with optional residual addition on CUDA: a block a row, 8 columns a thread. Rows of whole
// vectors that a block holds at once, which are those of a model, take a short way with the row in
// registers and the weights asked for before the block waits for x; all others are read twice.
// Bound by memory with many rows, by latency with one. The number of threads, and so the order of
// the sum, depends on the width alone.
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/reduce.cuh"
#include "dense_kernels/cuda/vector.cuh"
#include "dense_kernels/rms_norm.h"

namespace dense_kernels::cuda {
namespace {

constexpr int kColumns = 8;  // of a thread; the plan counts threads by it

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
__device__ __forceinline__ NormRow<T> row_of(const RmsNormParams& p, uint32_t index) {
  const uint32_t heads = p.heads;
  const int64_t token = index / heads;
  const int64_t head = index % heads;
  const int64_t dense = int64_t{index} * p.hidden;
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

// Adds the sums of the warps in order, as block_sum, with one barrier: `scratch` is used once.
__device__ __forceinline__ float sum_of_block(float value, float* scratch) {
  value = warp_sum(value);
  const int warps = blockDim.x / kWarp;
  if (threadIdx.x < kWarp && lane_id() >= warps) scratch[lane_id()] = 0.0f;
  if (lane_id() == 0) scratch[warp_id()] = value;
  __syncthreads();
  float4 part[kWarp / 4];
#pragma unroll
  for (int i = 0; i < kWarp / 4; ++i) part[i] = reinterpret_cast<const float4*>(scratch)[i];
  float total = 0.0f;  // the zeros behind the last warp change nothing: sums of squares have no sign
#pragma unroll
  for (int i = 0; i < kWarp / 4; ++i) {
    total = total + part[i].x + part[i].y + part[i].z + part[i].w;
  }
  return total;
}

__device__ __forceinline__ float inverse_of(const RmsNormParams& p, float squares) {
  return 1.0f / sqrtf(squares / static_cast<float>(p.hidden) + p.epsilon);
}

// Any row: in two passes, both from memory.
template <typename T, typename W>
__device__ __forceinline__ void norm_any(const RmsNormParams& p, float* scratch) {
  const NormRow<T> row = row_of<T>(p, blockIdx.x);
  const int first = threadIdx.x * kPack<T>;
  const int step = blockDim.x * kPack<T>;
  float squares = 0.0f;
#pragma unroll 1
  for (int column = first; column < p.hidden; column += step) {
    squares += sum_of_squares(summed(row, column, p.hidden));
  }
  const float inverse = inverse_of(p, sum_of_block(squares, scratch));
#pragma unroll 1
  for (int column = first; column < p.hidden; column += step) {
    write_pack<T, W>(p, row, summed(row, column, p.hidden), inverse, column);
  }
}

// A function of its own, so that its code is not fetched where it does not run.
template <typename T>
__device__ __noinline__ void norm_any_row(const RmsNormParams& p, float* scratch) {
  wait_and_trigger();
  if (p.weight_is_bf16) {
    norm_any<T, Bf16>(p, scratch);
  } else {
    norm_any<T, float>(p, scratch);
  }
}

// Whether a block holds the row and all of it is vectors at multiples of 16 bytes.
template <typename T>
__device__ __forceinline__ bool is_whole(const RmsNormParams& p, const NormRow<T>& row) {
  const auto bits = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  const uintptr_t all = bits(row.x) | bits(row.residual) | bits(row.residual_out) | bits(row.y) |
                        bits(p.weight);
  const bool fits = p.hidden <= static_cast<int>(blockDim.x) * kColumns;
  return (all % 16 == 0) & fits & (p.hidden % kColumns == 0);
}

// A thread's weights as they are in memory.
template <typename T>
struct Weights {
  uint4 word[kPack<T> / 4];

  __device__ __forceinline__ void load(const RmsNormParams& p, int column) {
    const char* from = static_cast<const char*>(p.weight);
    if (!p.weight_is_bf16) {
#pragma unroll
      for (int i = 0; i < kPack<T> / 4; ++i) word[i] = load16(from + (column + 4 * i) * 4);
    } else if constexpr (kPack<T> == 8) {
      word[0] = load16(from + column * 2);
    } else {
      const uint2 half = *reinterpret_cast<const uint2*>(from + column * 2);
      word[0].x = half.x;
      word[0].y = half.y;
    }
  }

  __device__ __forceinline__ float get(int i, bool is_bf16) const {
    const uint32_t wide = component(word[i / 4], i % 4);
    const uint32_t two = component(word[0], i / 2);
    const float narrow = i % 2 == 0 ? bf16x2_low(two) : bf16x2_high(two);
    return is_bf16 ? narrow : __uint_as_float(wide);
  }

  __device__ static __forceinline__ uint32_t component(const uint4& v, int i) {
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
  }
};

template <typename T>
__device__ __forceinline__ void rms_norm(const RmsNormParams& p) {
  __shared__ __align__(16) float scratch[kWarp];
  constexpr int kPacks = kColumns / kPack<T>;
  const NormRow<T> row = row_of<T>(p, blockIdx.x);
  if (!is_whole(p, row)) {
    norm_any_row<T>(p, scratch);
    return;
  }
  const int first = threadIdx.x * kPack<T>;
  const int step = blockDim.x * kPack<T>;
  Weights<T> weights[kPacks];
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    if (first + k * step < p.hidden) weights[k].load(p, first + k * step);
  }
  wait_and_trigger();  // the weights are on their way: they are cold in every step of a model
  Pack<T> sum[kPacks];
  float squares = 0.0f;
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    const int column = first + k * step;
    if (column >= p.hidden) continue;
    sum[k] = unpack(load16(row.x + column), row.x);
    if (row.residual) {
      const Pack<T> residual = unpack(load16(row.residual + column), row.x);
#pragma unroll
      for (int i = 0; i < kPack<T>; ++i) sum[k].value[i] += residual.value[i];
      store16(row.residual_out + column, repack(sum[k]));
    }
    squares += sum_of_squares(sum[k]);
  }
  const float inverse = inverse_of(p, sum_of_block(squares, scratch));
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    const int column = first + k * step;
    if (column >= p.hidden) continue;
    Pack<T> y;
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) {
      const float weight = p.weight_offset + weights[k].get(i, p.weight_is_bf16 != 0);
      y.value[i] = sum[k].value[i] * inverse * weight;
    }
    store16(row.y + column, repack(y));
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
