// Fragments of linears on tensor cores: what a lane reads of a weight row and of a row of x for 64
// columns, a unit, and how four steps of mma_bf16 (16 columns each) take it.
//
// A lane reads 16 neighbouring bytes at a time, so which column of a unit goes to which step and
// slot differs from memory order; weights and x agree on it, and all kernels do:
//   bf16   lane q = lane % 4 has columns 8q … 8q+7 (steps 0, 1) and 32+8q … 32+8q+7 (steps 2, 3)
//   mxfp8  lane q has columns 16q … 16q+15, four for each step
// Step s takes words 2 (s % 2) and 2 (s % 2) + 1 of x[s / 2].
#ifndef DENSE_KERNELS_CUDA_LINEAR_MMA_CUH
#define DENSE_KERNELS_CUDA_LINEAR_MMA_CUH

#include <stdint.h>

#include "dense_kernels/cuda/mma.cuh"
#include "linear_slices.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int kUnit = 64;   // columns
constexpr int kSteps = 4;   // of a unit
constexpr int kRowTile = 16;
constexpr int kTokenTile = 8;

// As load_columns, for weights that are read once.
template <bool kAligned, typename Element>
__device__ __forceinline__ uint4 stream_columns(const Element* row, int first, int columns) {
  if constexpr (kAligned) return first < columns ? load16_streaming(row + first) : uint4{};
  return load_columns<false>(row, first, columns);
}

// What the plain conversion gets wrong: NaN codes and scales above 134.
struct Specials {
  uint32_t nan_bits = 0;
  uint32_t largest_scale = 0;

  __device__ __forceinline__ void look_at(const uint4& codes, uint32_t one) {
#pragma unroll
    for (int i = 0; i < kSteps; ++i) find_nan(nan_bits, word_of(codes, i), one);
  }

  __device__ __forceinline__ void look_at_scale(uint32_t scale) {
    largest_scale = max(largest_scale, scale);
  }

  __device__ __forceinline__ bool found() const {
    return (nan_bits & kNanBits) != 0 || e4m3x4_is_special(0, largest_scale);
  }
};

// A lane's part of one unit of a weight row.
template <typename Weight>
struct RowUnit;

template <>
struct RowUnit<Bf16Weight> {
  uint4 part[2];

  template <bool kAligned>
  __device__ __forceinline__ void stream(const LinearParams& p, int64_t row, int unit, int q) {
    const Bf16* weights = static_cast<const Bf16*>(p.weight) + row * p.in;
    part[0] = stream_columns<kAligned>(weights, unit * kUnit + 8 * q, p.in);
    part[1] = stream_columns<kAligned>(weights, unit * kUnit + 32 + 8 * q, p.in);
  }

  __device__ __forceinline__ bool is_special() const { return false; }

  // The two words of mma_bf16 that this row gives in a step.
  template <bool kSpecial>
  __device__ __forceinline__ void words(int step, uint32_t& low, uint32_t& high) const {
    low = word_of(part[step / 2], step % 2 * 2);
    high = word_of(part[step / 2], step % 2 * 2 + 1);
  }
};

template <>
struct RowUnit<Mxfp8Weight> {
  uint4 codes;
  uint32_t scale;

  template <bool kAligned>
  __device__ __forceinline__ void stream(const LinearParams& p, int64_t row, int unit, int q) {
    const uint8_t* weights = static_cast<const uint8_t*>(p.weight) + row * p.in;
    codes = stream_columns<kAligned>(weights, unit * kUnit + 16 * q, p.in);
    scale = scale_of(p, row, unit, q);
  }

  // 1.0 behind the row, where the codes are 0.
  __device__ static __forceinline__ uint32_t scale_of(const LinearParams& p, int64_t row, int unit,
                                                      int q) {
    const int block = unit * (kUnit / 32) + q / 2;
    const int blocks = p.in / 32;
    return block < blocks ? static_cast<const uint8_t*>(p.scales)[row * blocks + block] : 127u;
  }

  // Whether the plain conversion would be wrong.
  __device__ __forceinline__ bool is_special() const {
    const bool has_nan = e4m3x4_has_nan(codes.x) | e4m3x4_has_nan(codes.y) |
                         e4m3x4_has_nan(codes.z) | e4m3x4_has_nan(codes.w);
    return has_nan | e4m3x4_is_special(0, scale);
  }

  template <bool kSpecial>
  __device__ __forceinline__ void words(int step, uint32_t& low, uint32_t& high) const {
    if constexpr (kSpecial) {
      e4m3x4_to_bf16(word_of(codes, step), scale, low, high);
    } else {
      e4m3x4_to_bf16_plain(word_of(codes, step), scale, low, high);
    }
  }
};

// Columns of x[0] and x[1] within a unit.
template <typename Weight>
__device__ __forceinline__ int x_column(int part, int q) {
  constexpr bool kIsBf16 = sizeof(typename Weight::Element) == 2;
  return kIsBf16 ? 32 * part + 8 * q : 16 * q + 8 * part;
}

template <bool kSpecial, typename Weight, int kTiles>
__device__ __forceinline__ void multiply_steps(float (&acc)[kTiles][4], const RowUnit<Weight>& top,
                                               const RowUnit<Weight>& bottom,
                                               const uint4 (&x)[kTiles][2]) {
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    uint32_t a[4];
    top.template words<kSpecial>(step, a[0], a[2]);
    bottom.template words<kSpecial>(step, a[1], a[3]);
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const uint4& part = x[tile][step / 2];
      const uint32_t b[2] = {word_of(part, step % 2 * 2), word_of(part, step % 2 * 2 + 1)};
      mma_bf16(acc[tile], a, b);
    }
  }
}

// One unit for 16 rows and kTiles times 8 tokens. top: the lane's row g, bottom: row g + 8. The
// whole warp takes the same branch, with the same result.
template <typename Weight, int kTiles>
__device__ __forceinline__ void multiply_unit(float (&acc)[kTiles][4], const RowUnit<Weight>& top,
                                              const RowUnit<Weight>& bottom,
                                              const uint4 (&x)[kTiles][2]) {
  if (__any_sync(0xffffffffu, top.is_special() || bottom.is_special())) {
    multiply_steps<true, Weight, kTiles>(acc, top, bottom, x);
  } else {
    multiply_steps<false, Weight, kTiles>(acc, top, bottom, x);
  }
}

}  // namespace
}  // namespace dense_kernels::cuda

#endif
