// How a warp reads weights for the tensor cores: 16 bytes of a row a lane, used as they lie.
//
// With g = lane / 4 and q = lane % 4, lane (g, q) holds `kLaneColumns` neighbouring columns of rows
// g and g + 8, and the same columns of token g. A matrix product may take its columns in any order
// if both sides take the same one, so step s of a group multiplies columns 4s … 4s+3 of each lane:
// word 2s is the fragment's columns 2q, 2q+1 and word 2s+1 its columns 2q+8, 2q+9. No shuffle, no
// repacked copy.
//
// Every kernel sums in this one order: groups ascending within a slice of `kSlice` columns,
// starting from 0, then the slices ascending in fp32. Hence the plans agree bit for bit.
#ifndef MOE_KERNELS_CUDA_DEVICE_EXPERT_WEIGHTS_CUH
#define MOE_KERNELS_CUDA_DEVICE_EXPERT_WEIGHTS_CUH

#include <stdint.h>

#include "dense_kernels/cuda/convert.cuh"
#include "dense_kernels/cuda/vector.cuh"

namespace moe_kernels::cuda {

constexpr int kGroups = 4;        // of a slice
constexpr int kScaleColumns = 32;  // columns that share a scale of MXFP8
constexpr uint32_t kScaleOfOne = 127;

// Words of two bf16 of a lane in a group.
template <typename W>
constexpr int kLaneWords = W::kLaneColumns / 2;

// Blocks of scales in a slice.
template <typename W>
constexpr int kSliceBlocks = W::kSlice / kScaleColumns;

struct Mxfp8Weights {
  static constexpr int kElementBytes = 1;
  static constexpr int kLaneColumns = 16;
  static constexpr int kGroup = 64;
  static constexpr int kSlice = kGroups * kGroup;
  static constexpr bool kIsScaled = true;

  // Whether widen_plain would be wrong: never, with the weights of a model.
  static __device__ __forceinline__ bool is_special(const uint4& raw, uint32_t scale) {
    const uint32_t codes[4] = {raw.x, raw.y, raw.z, raw.w};
    uint32_t nans = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) nans |= (codes[i] & 0x7f7f7f7fu) + 0x01010101u;
    return scale > 134 || (nans & 0x80808080u) != 0;
  }

  // Exact but for scales below 3 (convert.cuh). `scale` is the byte of the lane's block.
  static __device__ __forceinline__ void widen(const uint4& raw, uint32_t scale,
                                               uint32_t (&word)[8]) {
    if (!is_special(raw, scale)) {
      widen_plain(raw, scale, word);
      return;
    }
    const uint32_t codes[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      dense_kernels::cuda::e4m3x4_to_bf16(codes[i], scale, word[2 * i], word[2 * i + 1]);
    }
  }

  // As `widen`, any code and scale without a branch: `factor` is the lane's scale as two bf16
  // (e8m0_to_bf16x2).
  static __device__ __forceinline__ void widen_by(const uint4& raw, uint32_t factor,
                                                  uint32_t (&word)[8]) {
    const uint32_t codes[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      uint32_t& low = word[2 * i];
      uint32_t& high = word[2 * i + 1];
#if __CUDA_ARCH__ >= 890
      float value[4];
      dense_kernels::cuda::e4m3x4_to_f32(codes[i], value);
      low = dense_kernels::cuda::f32_to_bf16x2(value[0], value[1]);  // exact
      high = dense_kernels::cuda::f32_to_bf16x2(value[2], value[3]);
#else
      dense_kernels::cuda::e4m3x4_to_bf16(codes[i], kScaleOfOne, low, high);
#endif
      low = dense_kernels::cuda::bf16x2_multiply(low, factor);
      high = dense_kernels::cuda::bf16x2_multiply(high, factor);
    }
  }

  static __device__ __forceinline__ void widen_plain(const uint4& raw, uint32_t scale,
                                                     uint32_t (&word)[8]) {
    const uint32_t codes[4] = {raw.x, raw.y, raw.z, raw.w};
    const uint32_t factor = (scale + 120u) * 0x00800080u;  // 2^120 * 2^(scale - 127), twice
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint32_t a = __byte_perm(codes[i], 0, 0x1404);  // bytes: -, code 0, -, code 1
      const uint32_t b = __byte_perm(codes[i], 0, 0x3424);
      word[2 * i] = dense_kernels::cuda::bf16x2_multiply(
          (a & 0x80008000u) | (a >> 4 & 0x07f007f0u), factor);
      word[2 * i + 1] = dense_kernels::cuda::bf16x2_multiply(
          (b & 0x80008000u) | (b >> 4 & 0x07f007f0u), factor);
    }
  }
};

struct Bf16Weights {
  static constexpr int kElementBytes = 2;
  static constexpr int kLaneColumns = 8;
  static constexpr int kGroup = 32;
  static constexpr int kSlice = kGroups * kGroup;
  static constexpr bool kIsScaled = false;

  static __device__ __forceinline__ bool is_special(const uint4&, uint32_t) { return false; }

  static __device__ __forceinline__ void widen(const uint4& raw, uint32_t scale,
                                               uint32_t (&word)[4]) {
    widen_plain(raw, scale, word);
  }

  static __device__ __forceinline__ void widen_by(const uint4& raw, uint32_t factor,
                                                  uint32_t (&word)[4]) {
    widen_plain(raw, factor, word);
  }

  static __device__ __forceinline__ void widen_plain(const uint4& raw, uint32_t,
                                                     uint32_t (&word)[4]) {
    word[0] = raw.x;
    word[1] = raw.y;
    word[2] = raw.z;
    word[3] = raw.w;
  }
};

// The first `left` bytes at `from` (at most 16), one at a time; the others are 0.
__device__ __forceinline__ uint4 gather16(const uint8_t* from, int32_t left) {
  uint64_t half[2] = {};
#pragma unroll
  for (int h = 0; h < 2; ++h) {
#pragma unroll 1
    for (int i = 0; i < 8 && 8 * h + i < left; ++i) half[h] |= uint64_t{from[8 * h + i]} << 8 * i;
  }
  return {static_cast<uint32_t>(half[0]), static_cast<uint32_t>(half[0] >> 32),
          static_cast<uint32_t>(half[1]), static_cast<uint32_t>(half[1] >> 32)};
}

// The scales of one weight row.
struct ScaleRow {
  const uint8_t* row;
  int32_t blocks;
  bool whole;  // rows start at multiples of 4 bytes and have whole words
};

__device__ __forceinline__ bool scale_rows_are_whole(const void* base, int32_t blocks) {
  return dense_kernels::cuda::is_aligned(base, 4) && blocks % 4 == 0;
}

// Scales of blocks [first, first + 4), block `first` in the low byte; those behind the row are 0.
__device__ __forceinline__ uint32_t load_scales(const ScaleRow& s, int32_t first) {
  if (s.whole) {
    return first < s.blocks ? __ldg(reinterpret_cast<const uint32_t*>(s.row + first)) : 0u;
  }
  uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (first + i < s.blocks) word |= uint32_t{s.row[first + i]} << 8 * i;
  }
  return word;
}

// Of the eight scales of a slice, that of lane column q in group `group` of 64 columns.
__device__ __forceinline__ uint32_t scale_of_lane(const uint2& scales, int group, int q) {
  const uint32_t word = group < 2 ? scales.x : scales.y;
  return word >> (16 * (group % 2) + 8 * (q / 2)) & 0xffu;
}

}  // namespace moe_kernels::cuda

#endif
