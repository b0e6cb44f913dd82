// How a linear sums a row, the same in all of its kernels: [0, in) is cut into slices of p.slice
// elements, the last may be shorter; a slice is summed from 0 in ascending order, and the slices
// are added to 0 in ascending order. So a result does not depend on which kernel made it, and a row
// of y not on the number of tokens.
#ifndef DENSE_KERNELS_CUDA_LINEAR_SLICES_CUH
#define DENSE_KERNELS_CUDA_LINEAR_SLICES_CUH

#include <stdint.h>

#include "dense_kernels/cuda/vector.cuh"
#include "dense_kernels/linear.h"

namespace dense_kernels::cuda {
namespace {

__device__ __forceinline__ int slices_of(const LinearParams& p) {
  return max(1, (p.in + p.slice - 1) / p.slice);
}

// Data types of weights.
struct F32Weight {
  using Element = float;
};
struct Bf16Weight {
  using Element = Bf16;
};
struct Mxfp8Weight {
  using Element = uint8_t;
};

__device__ __forceinline__ uint32_t word_of(const uint4& v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

// 16 bytes of a row from element `first` on; elements at and behind `columns` are 0 and not read.
// Aligned: the address is a multiple of 16 and the columns end at a multiple of what 16 bytes hold.
template <bool kAligned, typename Element>
__device__ __forceinline__ uint4 load_columns(const Element* row, int first, int columns) {
  constexpr int kCount = 16 / sizeof(Element);
  if constexpr (kAligned) {
    return first < columns ? load16(row + first) : uint4{};
  } else {
    uint32_t word[4] = {};
    constexpr int kPerWord = 4 / sizeof(Element);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      uint32_t bits = 0;
      if (first + i < columns) {
        if constexpr (sizeof(Element) == 4) bits = __float_as_uint(row[first + i]);
        if constexpr (sizeof(Element) == 2) bits = row[first + i].bits;
        if constexpr (sizeof(Element) == 1) bits = row[first + i];
      }
      word[i / kPerWord] |= bits << (i % kPerWord * sizeof(Element) * 8);
    }
    return {word[0], word[1], word[2], word[3]};
  }
}

template <typename Y>
__device__ __forceinline__ void write_y(const LinearParams& p, int64_t token, int output,
                                        float value) {
  static_cast<Y*>(p.y)[token * p.y_stride + output] = round_to<Y>(value);
}

}  // namespace
}  // namespace dense_kernels::cuda

#endif
