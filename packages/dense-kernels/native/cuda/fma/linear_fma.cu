// linear on CUDA in fp32 arithmetic, for f32 weights or f32 x: any alignment, any number of tokens,
// made for few. A thread has one slice of one output's row and four tokens, and reads 64 columns of
// weights before it waits; the slices meet in shared memory. linear_fma_staged.cu has the aligned
// f32 weights of a router, linear_fma_tile.cu many tokens.
#include "dense_kernels/linear.h"
#include "dense_kernels/cuda/pdl.cuh"
#include "../device/linear_slices.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int kMostThreads = 256;
constexpr int kChunk = 16;  // columns of x at once

// What a thread has, and how many columns of weights it reads before it uses them.
template <int kOutputs_, int kTokens_, int kPiece_>
struct Share {
  static constexpr int kOutputs = kOutputs_;
  static constexpr int kTokens = kTokens_;
  static constexpr int kPiece = kPiece_;
};
using Few = Share<1, 4, 64>;   // to some tokens: as many blocks as there can be
using Odd = Share<1, 4, 16>;   // the same without alignment, where a load is many

template <typename S>
using Sums = float[S::kOutputs][S::kTokens];

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

// The scale of a chunk; 1 unless the weights are MXFP8.
template <typename Weight>
__device__ __forceinline__ float scale_of(const LinearParams& p, int64_t output, int column) {
  if constexpr (sizeof(typename Weight::Element) == 1) {
    const int64_t at = output * (p.in / 32) + column / 32;
    return column < p.in ? e8m0_to_f32(static_cast<const uint8_t*>(p.scales)[at]) : 1.0f;
  }
  return 1.0f;
}

// Adds one piece of the slice for each token that exists. Outputs behind the last are the last.
template <typename S, typename Weight, typename X, bool kAligned>
__device__ __forceinline__ void add_piece(Sums<S>& sums, const LinearParams& p, int64_t first_output,
                                          int64_t first_token, int first) {
  using Element = typename Weight::Element;
  RowPiece<Element, S::kPiece> weights[S::kOutputs];
  float scales[S::kOutputs][S::kPiece / kChunk];
#pragma unroll
  for (int o = 0; o < S::kOutputs; ++o) {
    const int64_t output = min(first_output + o, static_cast<int64_t>(p.out) - 1);
    weights[o].template load<kAligned>(static_cast<const Element*>(p.weight) + output * p.in, first,
                                       p.in);
#pragma unroll
    for (int i = 0; i < S::kPiece / kChunk; ++i) {
      scales[o][i] = scale_of<Weight>(p, output, first + i * kChunk);
    }
  }
  wait_and_trigger();  // weights are on their way; x is a predecessor's
#pragma unroll
  for (int chunk = 0; chunk < S::kPiece; chunk += kChunk) {
#pragma unroll
    for (int t = 0; t < S::kTokens; ++t) {
      if (first_token + t >= p.tokens) continue;
      RowPiece<X, kChunk> x;
      x.template load<kAligned>(static_cast<const X*>(p.x) + (first_token + t) * p.x_stride,
                                first + chunk, p.in);
#pragma unroll
      for (int k = 0; k < kChunk; k += 4) {
        float v[4];
        x.four(k, v);
#pragma unroll
        for (int o = 0; o < S::kOutputs; ++o) {
          float w[4];
          weights[o].four(chunk + k, w);
          const float scale = scales[o][chunk / kChunk];
#pragma unroll
          for (int i = 0; i < 4; ++i) sums[o][t] = fmaf(w[i] * scale, v[i], sums[o][t]);
        }
      }
    }
  }
}

template <typename S>
using Partials = Sums<S>[kMostThreads];

// Block: `slices` threads for each of its groups of outputs. Grid: outputs, tokens.
template <typename S, typename Weight, typename X, typename Y, bool kAligned>
__device__ __forceinline__ void run_block(const LinearParams& p, Partials<S>& partials) {
  const int slices = slices_of(p);
  const int groups = blockDim.x / slices;
  const int slice = threadIdx.x % slices;
  const int64_t block_output = int64_t{blockIdx.x} * groups * S::kOutputs;
  const int64_t first_output = block_output + threadIdx.x / slices * S::kOutputs;
  const int64_t first_token = int64_t{blockIdx.y} * S::kTokens;
  Sums<S> sums = {};
  if (first_output < p.out) {
    const int end = min((slice + 1) * p.slice, p.in);
    for (int first = slice * p.slice; first < end; first += S::kPiece) {
      add_piece<S, Weight, X, kAligned>(sums, p, first_output, first_token, first);
    }
  }
  wait_and_trigger();  // for threads without an output, which will write others' sums
#pragma unroll
  for (int o = 0; o < S::kOutputs; ++o) {
#pragma unroll
    for (int t = 0; t < S::kTokens; ++t) partials[threadIdx.x][o][t] = sums[o][t];
  }
  __syncthreads();
  constexpr int kResults = S::kOutputs * S::kTokens;  // of a group
  for (int i = threadIdx.x; i < groups * kResults; i += blockDim.x) {
    const int group = i / kResults;
    const int o = i % S::kOutputs;
    const int t = i % kResults / S::kOutputs;
    const int64_t output = block_output + group * S::kOutputs + o;
    const int64_t token = first_token + t;
    if (output >= p.out || token >= p.tokens) continue;
    float total = 0.0f;
    for (int s = 0; s < slices; ++s) total += partials[group * slices + s][o][t];
    write_y<Y>(p, token, static_cast<int>(output), total);
  }
}

// Any alignment.
template <typename Weight, typename X, typename Y>
__device__ __forceinline__ void fma_linear(const LinearParams& p) {
  __shared__ Partials<Few> partials;
  using Element = typename Weight::Element;
  const bool aligned = rows_are_aligned(static_cast<const Element*>(p.weight), p.in) &&
                       rows_are_aligned(static_cast<const X*>(p.x), p.x_stride) &&
                       p.in % kPack<X> == 0;
  if (aligned) {
    run_block<Few, Weight, X, Y, true>(p, partials);
  } else {
    run_block<Odd, Weight, X, Y, false>(p, partials);
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
