// Sixteen query rows of one token and KV head on tensor cores: what one warp holds, and how a step
// of 32 keys changes it.
//
// Scores: q and k are bf16, products and sums fp32. Weights stay as good as fp32: each is split
// into two bf16, whose products with v are exact and summed in fp32. (One bf16 would cost 2^-9 of
// every weight.) With g = lane / 4 and q = lane % 4 a thread holds rows g and g + 8, dims 8n + 2q
// and the next of every eight.
#ifndef ATTENTION_KERNELS_CUDA_DEVICE_QUERY_TILE_CUH
#define ATTENTION_KERNELS_CUDA_DEVICE_QUERY_TILE_CUH

#include "dense_kernels/cuda/convert.cuh"
#include "dense_kernels/cuda/mma.cuh"
#include "dense_kernels/cuda/reduce.cuh"

#include "attend.cuh"
#include "fold.cuh"

namespace attention_kernels::cuda {

using dense_kernels::cuda::Bf16;
using dense_kernels::cuda::bf16x2_high;
using dense_kernels::cuda::bf16x2_low;
using dense_kernels::cuda::f32_to_bf16x2;
using dense_kernels::cuda::kAllLanes;
using dense_kernels::cuda::lane_id;
using dense_kernels::cuda::load_matrix_x4;
using dense_kernels::cuda::load_matrix_x4_transposed;
using dense_kernels::cuda::Max;
using dense_kernels::cuda::mma_bf16;
using dense_kernels::cuda::Sum;
using dense_kernels::cuda::warp_id;
using dense_kernels::cuda::warp_reduce;

constexpr int kTileRows = 16;

// Sixteen query rows of a launch.
struct Unit {
  int64_t token;
  int32_t kv_head;
  int32_t first_head;  // of all query heads
  int32_t heads;       // 1 … 16
};

// Part `y` of a token's heads: KV head by KV head, sixteen query heads each. Unsigned divisions are
// shorter.
__device__ __forceinline__ Unit unit_of(const Attend& a, int64_t token, uint32_t y) {
  const uint32_t group = static_cast<uint32_t>(a.heads) / static_cast<uint32_t>(a.kv_heads);
  const uint32_t parts = (group + kTileRows - 1) / kTileRows;
  const uint32_t kv_head = y / parts;
  const uint32_t in_group = (y - kv_head * parts) * kTileRows;
  return {token, static_cast<int32_t>(kv_head), static_cast<int32_t>(kv_head * group + in_group),
          static_cast<int32_t>(min(group - in_group, static_cast<uint32_t>(kTileRows)))};
}

// Place of 16 bytes, `chunk` of a key's row, in a tile of keys in shared memory, in units of 16
// bytes; eight rows' equal chunks lie in different banks.
template <int kDims>
__device__ __forceinline__ int tile_place(int row, int chunk) {
  return row * (kDims / 8) + (chunk ^ (row & 7));
}

template <int kDims>
struct QueryTile {
  static constexpr int kGroups = kDims / 8;  // of eight dims

  uint32_t q[kDims / 16][4];
  float acc[kGroups][4];  // sums of weight * value
  Part part[2];           // of rows g and g + 8; sums are the thread's own columns'

  // Rows `first` … `first + rows - 1` of q, each kDims long; the other rows are zero.
  __device__ __forceinline__ void load(const Bf16* first, int32_t rows) {
    const int32_t g = lane_id() / 4;
    const Bf16* from = first + g * kDims + 2 * (lane_id() % 4);
#pragma unroll
    for (int i = 0; i < kDims / 16; ++i) {
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        const int row = word % 2 * 8;
        const Bf16* at = from + row * kDims + i * 16 + word / 2 * 8;
        q[i][word] = g + row < rows ? *reinterpret_cast<const uint32_t*>(at) : 0u;
      }
    }
  }

  __device__ __forceinline__ void clear() {
    part[0] = part[1] = Part{};
#pragma unroll
    for (int n = 0; n < kGroups; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) acc[n][i] = 0.0f;
    }
  }

  // A step: 32 keys and values, and the position of the lane's key. Keys behind `position`, the
  // token's own, are not seen.
  __device__ __forceinline__ void take(const uint4* keys, const uint4* values, int32_t key_position,
                                       int32_t position, float factor) {
    float scores[kStepKeys / 8][4];
    score(scores, keys);
    if (!__all_sync(kAllLanes, key_position <= position)) {
      hide(scores, key_position, position);
    }
    weigh(scores, factor);
    add_values(scores, values);
  }

  // Sums of the rows over all columns; call once, when all keys are taken.
  __device__ __forceinline__ void finish() {
    part[0].sum = warp_reduce<Sum, 4>(part[0].sum);
    part[1].sum = warp_reduce<Sum, 4>(part[1].sum);
  }

 private:
  __device__ __forceinline__ void score(float (&scores)[kStepKeys / 8][4], const uint4* keys) {
#pragma unroll
    for (int n = 0; n < kStepKeys / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) scores[n][i] = 0.0f;
    }
#pragma unroll
    for (int chunk = 0; chunk < kDims / 8; chunk += 4) {
#pragma unroll
      for (int n = 0; n < kStepKeys / 8; ++n) {
        uint32_t word[4];
        load_matrix_x4(word,
                       keys + tile_place<kDims>(n * 8 + lane_id() % 8, chunk + lane_id() / 8));
        mma_bf16(scores[n], q[chunk / 2], {word[0], word[1]});
        mma_bf16(scores[n], q[chunk / 2 + 1], {word[2], word[3]});
      }
    }
  }

  __device__ __forceinline__ void hide(float (&scores)[kStepKeys / 8][4], int32_t key_position,
                                       int32_t position) {
#pragma unroll
    for (int n = 0; n < kStepKeys / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int32_t column = n * 8 + 2 * (lane_id() % 4) + i;
        if (__shfl_sync(kAllLanes, key_position, column) > position) {
          scores[n][i] = scores[n][i + 2] = kMinusInfinity;
        }
      }
    }
  }

  // Scores become weights; what the rows have comes to the new maximum.
  __device__ __forceinline__ void weigh(float (&scores)[kStepKeys / 8][4], float factor) {
    float correction[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float top = kMinusInfinity;
#pragma unroll
      for (int n = 0; n < kStepKeys / 8; ++n) {
        top = fmaxf(top, fmaxf(scores[n][2 * r], scores[n][2 * r + 1]));
      }
      top = fmaxf(part[r].largest, warp_reduce<Max, 4>(top));
      correction[r] = rescale(part[r].largest, top, factor);
      part[r].largest = top;
      const float base = top == kMinusInfinity ? 0.0f : -__fmul_rn(top, factor);
      float sum = 0.0f;
#pragma unroll
      for (int n = 0; n < kStepKeys / 8; ++n) {
#pragma unroll
        for (int i = 2 * r; i < 2 * r + 2; ++i) {
          scores[n][i] = exp2_fast(__fmaf_rn(scores[n][i], factor, base));
          sum = __fadd_rn(sum, scores[n][i]);
        }
      }
      part[r].sum = __fmaf_rn(part[r].sum, correction[r], sum);
    }
    if (__all_sync(kAllLanes, correction[0] == 1.0f && correction[1] == 1.0f)) return;
#pragma unroll
    for (int n = 0; n < kGroups; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) acc[n][i] = __fmul_rn(acc[n][i], correction[i / 2]);
    }
  }

  __device__ __forceinline__ void add_values(const float (&weights)[kStepKeys / 8][4],
                                             const uint4* values) {
#pragma unroll
    for (int k = 0; k < kStepKeys / 16; ++k) {
      uint32_t high[4], low[4];
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        const float a = weights[2 * k + word / 2][word % 2 * 2];
        const float b = weights[2 * k + word / 2][word % 2 * 2 + 1];
        high[word] = f32_to_bf16x2(a, b);
        low[word] = f32_to_bf16x2(a - bf16x2_low(high[word]), b - bf16x2_high(high[word]));
      }
      const int row = k * 16 + lane_id() % 16;
#pragma unroll
      for (int n = 0; n < kGroups; n += 8) {
        uint32_t word[4][4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          load_matrix_x4_transposed(
              word[i], values + tile_place<kDims>(row, n + 2 * i + lane_id() / 16));
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          mma_bf16(acc[n + i], low, {word[i / 2][i % 2 * 2], word[i / 2][i % 2 * 2 + 1]});
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          mma_bf16(acc[n + i], high, {word[i / 2][i % 2 * 2], word[i / 2][i % 2 * 2 + 1]});
        }
      }
    }
  }
};

}  // namespace attention_kernels::cuda

#endif
