// linear on CUDA in fp32 arithmetic for f32 weights and few tokens, as a router has: a block has
// one or two outputs and up to 8 tokens. Whole rows of weights and of x come to shared memory, the
// weights before the predecessors are waited for; then a thread has a slice for four tokens, 8
// columns a turn of a short loop, and the slices meet in shared memory. Sums in the order of
// linear_fma.cu, bit for bit.
//
// Rows lie in pieces of 64 columns with 16 bytes behind each, so that eight threads, which read the
// same column of neighbouring slices, read all banks.
#include "dense_kernels/cuda/mma.cuh"
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/linear.h"
#include "../device/linear_slices.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int kPiece = 64;       // columns
constexpr int kStep = 8;         // columns at once
constexpr int kBlockTokens = 8;
constexpr int kOwnTokens = 4;    // of a thread; the plan knows these numbers too
constexpr int kPitch = 132;      // floats from one result's sums of slices to the next

template <typename Element>
constexpr int kPieceBytes = kPiece * sizeof(Element) + 16;

// A row to shared memory in the background; zeros from `columns` to the end of the last piece.
template <typename Element>
__device__ __forceinline__ void copy_row(char* to, const Element* row, int columns, int pieces) {
  constexpr int kCount = 16 / sizeof(Element);
  constexpr int kVectors = kPiece / kCount;
#pragma unroll 2
  for (int i = threadIdx.x; i < pieces * kVectors; i += blockDim.x) {
    char* at = to + (i + i / kVectors) * 16;
    if (i * kCount < columns) {
      copy16_async(at, row + i * kCount);
    } else {
      store16(at, uint4{});
    }
  }
}

// Eight neighbouring values.
__device__ __forceinline__ void load_step(const char* from, float (&value)[kStep], const float*) {
#pragma unroll
  for (int i = 0; i < kStep; i += 4) {
    const uint4 word = load16(from + i * sizeof(float));
#pragma unroll
    for (int k = 0; k < 4; ++k) value[i + k] = __uint_as_float(word_of(word, k));
  }
}
__device__ __forceinline__ void load_step(const char* from, float (&value)[kStep], const Bf16*) {
  const uint4 word = load16(from);
#pragma unroll
  for (int i = 0; i < kStep; i += 2) {
    value[i] = bf16x2_low(word_of(word, i / 2));
    value[i + 1] = bf16x2_high(word_of(word, i / 2));
  }
}

// Where step `i` of a row or slice begins.
template <typename Element>
__device__ __forceinline__ int step_bytes(int i) {
  return i * kStep * static_cast<int>(sizeof(Element)) + i / (kPiece / kStep) * 16;
}

// The thread's slice of the rows in shared memory, for `tokens` of its tokens.
template <typename X, int kOutputs>
__device__ __forceinline__ void sum_slice(float (&sums)[kOutputs][kOwnTokens], const char* weights,
                                          int weight_row, const char* x, int x_row, int steps,
                                          int tokens) {
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
    float w[kOutputs][kStep];
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) {
      load_step(weights + o * weight_row + step_bytes<float>(i), w[o],
                static_cast<const float*>(nullptr));
    }
#pragma unroll
    for (int t = 0; t < kOwnTokens; ++t) {
      if (t >= tokens) break;
      float v[kStep];
      load_step(x + t * x_row + step_bytes<X>(i), v, static_cast<const X*>(nullptr));
#pragma unroll
      for (int k = 0; k < kStep; ++k) {
#pragma unroll
        for (int o = 0; o < kOutputs; ++o) sums[o][t] = fmaf(w[o][k], v[k], sums[o][t]);
      }
    }
  }
}

// Grid: outputs / kOutputs, tokens / 8. Block: two threads a slice, the second one for tokens 4 to
// 7.
template <typename X, typename Y, int kOutputs>
__device__ __forceinline__ void staged_linear(const LinearParams& p) {
  extern __shared__ __align__(128) char shared[];
  const int slices = slices_of(p);
  const int pieces = slices * (p.slice / kPiece);
  const int weight_row = pieces * kPieceBytes<float>;
  const int x_row = pieces * kPieceBytes<X>;
  float* partials = reinterpret_cast<float*>(shared);
  char* weights = shared + kOutputs * kBlockTokens * kPitch * sizeof(float);
  char* x = weights + kOutputs * weight_row;
  const int first_output = blockIdx.x * kOutputs;
  const int64_t first_token = int64_t{blockIdx.y} * kBlockTokens;
  const int tokens = static_cast<int>(min(p.tokens - first_token, int64_t{kBlockTokens}));
#pragma unroll 1
  for (int o = 0; o < kOutputs; ++o) {
    const int64_t output = min(first_output + o, p.out - 1);
    copy_row(weights + o * weight_row, static_cast<const float*>(p.weight) + output * p.in, p.in,
             pieces);
  }
  wait_and_trigger();  // weights are on their way; x is a predecessor's
#pragma unroll 1
  for (int t = 0; t < tokens; ++t) {
    copy_row(x + t * x_row, static_cast<const X*>(p.x) + (first_token + t) * p.x_stride, p.in,
             pieces);
  }
  commit_copies();
  wait_copies<0>();
  __syncthreads();
  const int first = threadIdx.x < slices ? 0 : kOwnTokens;  // of the thread's tokens
  const int slice = threadIdx.x - (first == 0 ? 0 : slices);
  const int steps = p.slice / kStep;
  float sums[kOutputs][kOwnTokens] = {};
  sum_slice<X, kOutputs>(sums, weights + slice * step_bytes<float>(steps), weight_row,
                         x + first * x_row + slice * step_bytes<X>(steps), x_row, steps,
                         tokens - first);
#pragma unroll
  for (int i = 0; i < kOutputs * kOwnTokens; ++i) {
    float* to = partials + (i / kOwnTokens * kBlockTokens + first + i % kOwnTokens) * kPitch;
    to[slice] = sums[i / kOwnTokens][i % kOwnTokens];
  }
  // Slices are added by fours; zeros behind the last change nothing.
  for (int i = threadIdx.x; i < kOutputs * kBlockTokens * 3; i += blockDim.x) {
    if (slices + i % 3 < (slices + 3) / 4 * 4) partials[i / 3 * kPitch + slices + i % 3] = 0.0f;
  }
  __syncthreads();
#pragma unroll 1
  for (int i = threadIdx.x; i < kOutputs * kBlockTokens; i += blockDim.x) {
    const int token = i % kBlockTokens;
    const int output = first_output + i / kBlockTokens;
    if (token >= tokens || output >= p.out) continue;
    const float4* from = reinterpret_cast<const float4*>(partials + i * kPitch);
    float total = 0.0f;
#pragma unroll 4
    for (int four = 0; four < (slices + 3) / 4; ++four) {
      total = total + from[four].x + from[four].y + from[four].z + from[four].w;
    }
    write_y<Y>(p, first_token + token, output, total);
  }
}

}  // namespace
}  // namespace dense_kernels::cuda

namespace cuda = dense_kernels::cuda;

extern "C" __global__ void __launch_bounds__(256)
    linear_f32_f32_f32_few(__grid_constant__ const LinearParams p) {
  cuda::staged_linear<float, float, 1>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_f32_f32_f32_more(__grid_constant__ const LinearParams p) {
  cuda::staged_linear<float, float, 2>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_f32_f32_bf16_few(__grid_constant__ const LinearParams p) {
  cuda::staged_linear<float, cuda::Bf16, 1>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_f32_f32_bf16_more(__grid_constant__ const LinearParams p) {
  cuda::staged_linear<float, cuda::Bf16, 2>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_f32_bf16_f32_few(__grid_constant__ const LinearParams p) {
  cuda::staged_linear<cuda::Bf16, float, 1>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_f32_bf16_f32_more(__grid_constant__ const LinearParams p) {
  cuda::staged_linear<cuda::Bf16, float, 2>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_f32_bf16_bf16_few(__grid_constant__ const LinearParams p) {
  cuda::staged_linear<cuda::Bf16, cuda::Bf16, 1>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_f32_bf16_bf16_more(__grid_constant__ const LinearParams p) {
  cuda::staged_linear<cuda::Bf16, cuda::Bf16, 2>(p);
}
