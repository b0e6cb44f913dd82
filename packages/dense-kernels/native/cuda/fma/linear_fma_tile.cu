// linear on CUDA in fp32 arithmetic, for f32 weights or f32 x and many tokens: 64 outputs x 64
// tokens a block, 4 x 4 a thread, 16 columns at a time through shared memory, the next 16 on their
// way in registers. Sums in the order of linear_fma.cu. Bound by arithmetic.
#include "dense_kernels/linear.h"
#include "dense_kernels/cuda/pdl.cuh"
#include "../device/linear_slices.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int kTile = 64;    // outputs, and tokens
constexpr int kColumns = 16;  // at a time
constexpr int kOwn = 4;      // outputs, and tokens, of a thread

struct Stage {
  float weight[kColumns][kTile + 4];
  float x[kColumns][kTile + 4];
};

// Four neighbouring elements of a row in fp32; those at and behind `columns` are 0 and not read.
template <typename Element>
__device__ __forceinline__ void load_four(const Element* row, int first, int columns, bool aligned,
                                          float (&value)[4]) {
  if (aligned && first + 4 <= columns) {
    if constexpr (sizeof(Element) == 4) {
      const Pack<float> pack = unpack(load16(row + first), row);
#pragma unroll
      for (int i = 0; i < 4; ++i) value[i] = pack.value[i];
    } else if constexpr (sizeof(Element) == 2) {
      const uint2 word = *reinterpret_cast<const uint2*>(row + first);
      value[0] = bf16x2_low(word.x);
      value[1] = bf16x2_high(word.x);
      value[2] = bf16x2_low(word.y);
      value[3] = bf16x2_high(word.y);
    } else {
      e4m3x4_to_f32(load_bytes4(row + first, true), value);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    value[i] = 0.0f;
    if (first + i >= columns) continue;
    if constexpr (sizeof(Element) == 1) {
      value[i] = e4m3_to_f32(row[first + i]);
    } else {
      value[i] = to_f32(row[first + i]);
    }
  }
}

// Whether four elements from a multiple of 4 on are aligned, in every row.
template <typename Element>
__device__ __forceinline__ bool fours_are_aligned(const Element* rows, int64_t stride) {
  return is_aligned(rows, 4 * sizeof(Element)) && stride % 4 == 0;
}

// What a thread loads: columns 4 (t % 4) … of output t / 4 and of token t / 4.
template <typename Weight, typename X>
struct Loader {
  using Element = typename Weight::Element;
  const Element* weight;
  const uint8_t* scales;
  const X* x;
  bool weight_aligned, x_aligned;
  int in;
  float next_weight[4];
  float next_x[4];

  // Outputs and tokens behind the last are the last; nobody writes their results.
  __device__ __forceinline__ Loader(const LinearParams& p, int first_output, int64_t first_token) {
    const int64_t output = min(first_output + static_cast<int>(threadIdx.x) / 4, p.out - 1);
    const int64_t token =
        min(first_token + threadIdx.x / 4, static_cast<int64_t>(p.tokens) - 1);
    weight = static_cast<const Element*>(p.weight) + output * p.in;
    scales = static_cast<const uint8_t*>(p.scales) + output * (p.in / 32);
    x = static_cast<const X*>(p.x) + token * p.x_stride;
    weight_aligned = fours_are_aligned(static_cast<const Element*>(p.weight), p.in);
    x_aligned = fours_are_aligned(static_cast<const X*>(p.x), p.x_stride);
    in = p.in;
  }

  __device__ __forceinline__ void load(int column) {
    const int first = column + threadIdx.x % 4 * 4;
    load_four(weight, first, in, weight_aligned, next_weight);
    load_four(x, first, in, x_aligned, next_x);
    if constexpr (sizeof(Element) == 1) {
      const float scale = first < in ? e8m0_to_f32(scales[first / 32]) : 0.0f;
#pragma unroll
      for (int i = 0; i < 4; ++i) next_weight[i] *= scale;
    }
  }

  __device__ __forceinline__ void store(Stage& stage) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      stage.weight[threadIdx.x % 4 * 4 + i][threadIdx.x / 4] = next_weight[i];
      stage.x[threadIdx.x % 4 * 4 + i][threadIdx.x / 4] = next_x[i];
    }
  }
};

// [token][output]
using Sums = float[kOwn][kOwn];

__device__ __forceinline__ void add_columns(Sums& sums, const Stage& stage) {
  const int outputs = threadIdx.x % 16 * kOwn;
  const int tokens = threadIdx.x / 16 * kOwn;
#pragma unroll
  for (int k = 0; k < kColumns; ++k) {
    const float4 w = *reinterpret_cast<const float4*>(&stage.weight[k][outputs]);
    const float4 x = *reinterpret_cast<const float4*>(&stage.x[k][tokens]);
    const float weight[4] = {w.x, w.y, w.z, w.w};
    const float value[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
    for (int t = 0; t < kOwn; ++t) {
#pragma unroll
      for (int o = 0; o < kOwn; ++o) sums[t][o] = fmaf(weight[o], value[t], sums[t][o]);
    }
  }
}

__device__ __forceinline__ void close_slice(Sums& total, Sums& slice) {
#pragma unroll
  for (int t = 0; t < kOwn; ++t) {
#pragma unroll
    for (int o = 0; o < kOwn; ++o) {
      total[t][o] += slice[t][o];
      slice[t][o] = 0.0f;
    }
  }
}

// Grid: outputs / 64, tokens / 64.
template <typename Weight, typename X, typename Y>
__device__ __forceinline__ void fma_tile_linear(const LinearParams& p) {
  __shared__ __align__(16) Stage stages[2];
  const int first_output = blockIdx.x * kTile;
  const int64_t first_token = int64_t{blockIdx.y} * kTile;
  Loader<Weight, X> loader(p, first_output, first_token);
  Sums total = {};
  Sums slice = {};
  loader.load(0);
  int left_of_slice = p.slice;
  for (int column = 0, step = 0; column < p.in; column += kColumns, ++step) {
    Stage& stage = stages[step % 2];
    loader.store(stage);
    __syncthreads();  // the stage is whole, and everybody is done with the one before the last
    if (column + kColumns < p.in) loader.load(column + kColumns);
    add_columns(slice, stage);
    left_of_slice -= kColumns;
    if (left_of_slice == 0) {
      close_slice(total, slice);
      left_of_slice = p.slice;
    }
  }
  if (left_of_slice != p.slice) close_slice(total, slice);
#pragma unroll
  for (int t = 0; t < kOwn; ++t) {
    const int64_t token = first_token + threadIdx.x / 16 * kOwn + t;
#pragma unroll
    for (int o = 0; o < kOwn; ++o) {
      const int output = first_output + threadIdx.x % 16 * kOwn + o;
      if (token < p.tokens && output < p.out) write_y<Y>(p, token, output, total[t][o]);
    }
  }
}

}  // namespace
}  // namespace dense_kernels::cuda

namespace cuda = dense_kernels::cuda;

extern "C" __global__ void __launch_bounds__(256)
    linear_f32_f32_f32_tile(__grid_constant__ const LinearParams p) {
  dense_kernels::cuda::wait_and_trigger();
  cuda::fma_tile_linear<cuda::F32Weight, float, float>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_f32_f32_bf16_tile(__grid_constant__ const LinearParams p) {
  dense_kernels::cuda::wait_and_trigger();
  cuda::fma_tile_linear<cuda::F32Weight, float, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_f32_bf16_f32_tile(__grid_constant__ const LinearParams p) {
  dense_kernels::cuda::wait_and_trigger();
  cuda::fma_tile_linear<cuda::F32Weight, cuda::Bf16, float>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_f32_bf16_bf16_tile(__grid_constant__ const LinearParams p) {
  dense_kernels::cuda::wait_and_trigger();
  cuda::fma_tile_linear<cuda::F32Weight, cuda::Bf16, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_bf16_f32_f32_tile(__grid_constant__ const LinearParams p) {
  dense_kernels::cuda::wait_and_trigger();
  cuda::fma_tile_linear<cuda::Bf16Weight, float, float>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_bf16_f32_bf16_tile(__grid_constant__ const LinearParams p) {
  dense_kernels::cuda::wait_and_trigger();
  cuda::fma_tile_linear<cuda::Bf16Weight, float, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_mxfp8_f32_f32_tile(__grid_constant__ const LinearParams p) {
  dense_kernels::cuda::wait_and_trigger();
  cuda::fma_tile_linear<cuda::Mxfp8Weight, float, float>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_mxfp8_f32_bf16_tile(__grid_constant__ const LinearParams p) {
  dense_kernels::cuda::wait_and_trigger();
  cuda::fma_tile_linear<cuda::Mxfp8Weight, float, cuda::Bf16>(p);
}
