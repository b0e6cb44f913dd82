// linear on CUDA in fp32 arithmetic, for f32 weights or f32 x: any alignment, any number of tokens,
// made for few. A thread has one output, one slice of its row and four tokens; the slices meet in
// shared memory. A router's 128 outputs of 6144 columns so become 128 blocks of 96 slices, which
// read 64 columns of weights each before they wait. Bound by reading the weights.
#include "dense_kernels/linear.h"
#include "device/linear_slices.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int kMostThreads = 256;
constexpr int kTokens = 4;   // of a block
constexpr int kPiece = 64;   // columns that are read before they are used
constexpr int kChunk = 16;   // columns of x at once

// kCount neighbouring elements of a row as they are in memory; fp32 on demand.
template <typename Element, int kCount>
struct RowPiece {
  static constexpr int kWords = kCount * sizeof(Element) / 16;
  uint4 word[kWords];

  template <bool kAligned>
  __device__ __forceinline__ void load(const Element* row, int first, int columns) {
    constexpr int kPerWord = 16 / sizeof(Element);
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      word[i] = load_columns<kAligned>(row, first + i * kPerWord, columns);
    }
  }

  // Four values from `index` on, a multiple of 4.
  __device__ __forceinline__ void four(int index, float (&value)[4]) const {
    const int byte = index * sizeof(Element);
    const uint4& w = word[byte / 16];
    if constexpr (sizeof(Element) == 4) {
#pragma unroll
      for (int i = 0; i < 4; ++i) value[i] = __uint_as_float(word_of(w, i));
    } else if constexpr (sizeof(Element) == 2) {
      const uint32_t low = word_of(w, byte % 16 / 4);
      const uint32_t high = word_of(w, byte % 16 / 4 + 1);
      value[0] = bf16x2_low(low);
      value[1] = bf16x2_high(low);
      value[2] = bf16x2_low(high);
      value[3] = bf16x2_high(high);
    } else {
      e4m3x4_to_f32(word_of(w, byte % 16 / 4), value);
    }
  }
};

// Scales of the two blocks of 32 in a piece; 1 unless the weights are MXFP8.
template <typename Weight>
__device__ __forceinline__ void load_scales(const LinearParams& p, int64_t output, int first,
                                            float (&scale)[2]) {
  scale[0] = 1.0f;
  scale[1] = 1.0f;
  if constexpr (sizeof(typename Weight::Element) == 1) {
    const int blocks = p.in / 32;
    const uint8_t* row = static_cast<const uint8_t*>(p.scales) + output * blocks;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (first / 32 + i < blocks) scale[i] = e8m0_to_f32(row[first / 32 + i]);
    }
  }
}

// Adds one piece of the slice for each token that exists.
template <typename Weight, typename X, bool kAligned>
__device__ __forceinline__ void add_piece(float (&sum)[kTokens], const LinearParams& p,
                                          int64_t output, int64_t first_token, int first) {
  using Element = typename Weight::Element;
  RowPiece<Element, kPiece> weights;
  weights.template load<kAligned>(static_cast<const Element*>(p.weight) + output * p.in, first,
                                  p.in);
  float scale[2];
  load_scales<Weight>(p, output, first, scale);
#pragma unroll
  for (int chunk = 0; chunk < kPiece; chunk += kChunk) {
#pragma unroll
    for (int t = 0; t < kTokens; ++t) {
      if (first_token + t >= p.tokens) continue;
      RowPiece<X, kChunk> x;
      x.template load<kAligned>(static_cast<const X*>(p.x) + (first_token + t) * p.x_stride,
                                first + chunk, p.in);
#pragma unroll
      for (int k = 0; k < kChunk; k += 4) {
        float w[4];
        float v[4];
        weights.four(chunk + k, w);
        x.four(k, v);
#pragma unroll
        for (int i = 0; i < 4; ++i) sum[t] = fmaf(w[i] * scale[chunk / 32], v[i], sum[t]);
      }
    }
  }
}

// Block: slices threads for each of its outputs. Grid: outputs, tokens / 4.
template <typename Weight, typename X, typename Y, bool kAligned>
__device__ __forceinline__ void run_block(const LinearParams& p,
                                          float (&partials)[kMostThreads][kTokens]) {
  const int slices = slices_of(p);
  const int outputs = blockDim.x / slices;  // of a block
  const int slice = threadIdx.x % slices;
  const int64_t output = int64_t{blockIdx.x} * outputs + threadIdx.x / slices;
  const int64_t first_token = int64_t{blockIdx.y} * kTokens;
  float sum[kTokens] = {};
  if (output < p.out) {
    const int end = min((slice + 1) * p.slice, p.in);
    for (int first = slice * p.slice; first < end; first += kPiece) {
      add_piece<Weight, X, kAligned>(sum, p, output, first_token, first);
    }
  }
#pragma unroll
  for (int t = 0; t < kTokens; ++t) partials[threadIdx.x][t] = sum[t];
  __syncthreads();
  for (int i = threadIdx.x; i < outputs * kTokens; i += blockDim.x) {
    const int64_t to = int64_t{blockIdx.x} * outputs + i / kTokens;
    const int64_t token = first_token + i % kTokens;
    if (to >= p.out || token >= p.tokens) continue;
    float total = 0.0f;
    for (int s = 0; s < slices; ++s) total += partials[i / kTokens * slices + s][i % kTokens];
    write_y<Y>(p, token, static_cast<int>(to), total);
  }
}

template <typename Weight, typename X, typename Y>
__device__ __forceinline__ void fma_linear(const LinearParams& p) {
  __shared__ float partials[kMostThreads][kTokens];
  using Element = typename Weight::Element;
  const bool aligned = rows_are_aligned(static_cast<const Element*>(p.weight), p.in) &&
                       rows_are_aligned(static_cast<const X*>(p.x), p.x_stride) &&
                       p.in % kPack<X> == 0;
  if (aligned) {
    run_block<Weight, X, Y, true>(p, partials);
  } else {
    run_block<Weight, X, Y, false>(p, partials);
  }
}

}  // namespace
}  // namespace dense_kernels::cuda

namespace cuda = dense_kernels::cuda;

extern "C" __global__ void __launch_bounds__(256)
    linear_f32_f32_f32(__grid_constant__ const LinearParams p) {
  cuda::fma_linear<cuda::F32Weight, float, float>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_f32_f32_bf16(__grid_constant__ const LinearParams p) {
  cuda::fma_linear<cuda::F32Weight, float, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_f32_bf16_f32(__grid_constant__ const LinearParams p) {
  cuda::fma_linear<cuda::F32Weight, cuda::Bf16, float>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_f32_bf16_bf16(__grid_constant__ const LinearParams p) {
  cuda::fma_linear<cuda::F32Weight, cuda::Bf16, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_bf16_f32_f32(__grid_constant__ const LinearParams p) {
  cuda::fma_linear<cuda::Bf16Weight, float, float>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_bf16_f32_bf16(__grid_constant__ const LinearParams p) {
  cuda::fma_linear<cuda::Bf16Weight, float, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_mxfp8_f32_f32(__grid_constant__ const LinearParams p) {
  cuda::fma_linear<cuda::Mxfp8Weight, float, float>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_mxfp8_f32_bf16(__grid_constant__ const LinearParams p) {
  cuda::fma_linear<cuda::Mxfp8Weight, float, cuda::Bf16>(p);
}
