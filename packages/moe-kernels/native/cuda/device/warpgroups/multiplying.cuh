// The two warpgroups that multiply: each warp widens its row tile of the next stage while the
// products of this one run. Columns go to steps and sums to slices as expert_weights.cuh says.
#ifndef MOE_KERNELS_CUDA_DEVICE_WARPGROUPS_MULTIPLYING_CUH
#define MOE_KERNELS_CUDA_DEVICE_WARPGROUPS_MULTIPLYING_CUH

#include "ring.cuh"

namespace moe_kernels::cuda {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

constexpr int kStageSteps = kStageColumns / 16;

// A row tile of a stage as the steps take it: words 4 s … 4 s + 3 are step s's.
typedef uint32_t WgmmaRows[4 * kStageSteps];

// Where the scales of a lane's two rows of a unit are.
struct LaneScaleRows {
  const uint8_t* row[2];
  int32_t blocks;
  bool are_whole;

  template <typename Problem>
  __device__ __forceinline__ LaneScaleRows(const Problem& problem, const Unit& unit, int thread)
      : blocks(problem.columns() / kScaleColumns) {
    const uint8_t* base = static_cast<const uint8_t*>(problem.p.scales);
    const int32_t tile = unit.block * kTiledRowTiles + thread / dense_kernels::cuda::kWarp;
    const int g = thread % dense_kernels::cuda::kWarp / 4;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int64_t r =
          unit.tile.expert * problem.weight_rows() + problem.weight_row(tile, g + i * kPairs);
      row[i] = base + r * blocks;
    }
    are_whole = scale_rows_are_whole(base, blocks);
  }
};

// Scales of a lane's rows g and g + 8 of a row tile in a slice; nothing for bf16.
template <typename W>
struct LaneScales {
  uint2 row[2];

  __device__ __forceinline__ void load(const LaneScaleRows& from, int32_t slice) {
    if constexpr (W::kIsScaled) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const ScaleRow scales = {from.row[i], from.blocks, from.are_whole};
        row[i].x = load_scales(scales, slice * kSliceBlocks<W>);
        row[i].y = load_scales(scales, slice * kSliceBlocks<W> + 4);
      }
    }
  }

  // Whether one is above 134.
  __device__ __forceinline__ bool are_special() const {
    uint32_t above = 0;
    if constexpr (W::kIsScaled) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        above |= __vcmpgtu4(row[i].x, 0x86868686u) | __vcmpgtu4(row[i].y, 0x86868686u);
      }
    }
    return above != 0;
  }
};

// Any codes and scales, instead of what widen_rows has made of them. Unrolled: a loop would index
// registers, and so keep them in memory all the time.
__device__ __forceinline__ void widen_specials(const uint4 (&raw)[2], const uint32_t (&scale)[2],
                                               WgmmaRows& rows) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const uint32_t codes[4] = {raw[i].x, raw[i].y, raw[i].z, raw[i].w};
#pragma unroll
    for (int s = 0; s < kStageSteps; ++s) {
      dense_kernels::cuda::e4m3x4_to_bf16(codes[s], scale[i], rows[4 * s + i], rows[4 * s + i + 2]);
    }
  }
}

// Stage `within` of a slice.
__device__ __forceinline__ void widen_rows(const TiledStage<Mxfp8Weights>& stage, int row, int q,
                                           const LaneScales<Mxfp8Weights>& scales,
                                           bool are_special, int within, WgmmaRows& rows) {
  typedef Mxfp8Weights W;
  uint4 raw[2];
  uint32_t scale[2];
  uint32_t nan_bits = 0;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    raw[i] = stage.weight[weight_chunk<W>(row + i * kPairs, q)];
    scale[i] = scale_of_lane(scales.row[i], within, q);
    const uint32_t factor = dense_kernels::cuda::e4m3_factor(scale[i]);
    const uint32_t codes[4] = {raw[i].x, raw[i].y, raw[i].z, raw[i].w};
#pragma unroll
    for (int s = 0; s < kStageSteps; ++s) {
      dense_kernels::cuda::find_nan(nan_bits, codes[s]);
      uint32_t* to = rows + 4 * s + i;
      dense_kernels::cuda::e4m3x4_to_bf16_by(codes[s], factor, to[0], to[2]);
    }
  }
  const bool is_special = (nan_bits & dense_kernels::cuda::kNanBits) != 0 || are_special;
  if (__any_sync(dense_kernels::cuda::kAllLanes, is_special)) widen_specials(raw, scale, rows);
}

__device__ __forceinline__ void widen_rows(const TiledStage<Bf16Weights>& stage, int row, int q,
                                           const LaneScales<Bf16Weights>&, bool, int,
                                           WgmmaRows& rows) {
  typedef Bf16Weights W;
#pragma unroll
  for (int group = 0; group < kStageColumns / W::kGroup; ++group) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const uint4 raw = stage.weight[weight_chunk<W>(row + i * kPairs, group * 4 + q)];
      uint32_t* to = rows + 8 * group + i;
      to[0] = raw.x;
      to[2] = raw.y;
      to[4] = raw.z;
      to[6] = raw.w;
    }
  }
}

template <int kTokens, typename W>
__device__ __forceinline__ void start_products(float (&sums)[kTokens / 2], WgmmaRows& rows,
                                               const TiledStage<W>& stage, int within) {
  const uint64_t tokens = dense_kernels::cuda::wgmma_rows(stage.token);
  dense_kernels::cuda::pin(sums);
  dense_kernels::cuda::pin(rows);
  dense_kernels::cuda::fence_async_proxy();
  dense_kernels::cuda::wgmma_begin();
#pragma unroll
  for (int step = 0; step < kStageSteps; ++step) {
    dense_kernels::cuda::wgmma<kTokens>(sums, rows + 4 * step, tokens + 2 * step, within + step);
  }
  dense_kernels::cuda::wgmma_commit();
}

// Sums of the warp's row tile for the first kTokens rows of a unit; `at` moves behind it.
template <int kTokens, typename W, typename Problem>
__device__ __forceinline__ void sum_unit(float (&totals)[kTokens / 2], const LaneScaleRows& from,
                                         int32_t stages, int thread, WgmmaPlace<W>& at,
                                         WgmmaShared<W, Problem>& shared) {
  constexpr int kSlice = kSliceStages<W>;
  static_assert(kSlice % 2 == 0, "`rows` take turns within a slice");
  const int lane = thread % dense_kernels::cuda::kWarp;
  const int row = thread / dense_kernels::cuda::kWarp * kRowTile + lane / 4;
  float sums[kTokens / 2] = {};
  WgmmaRows rows[2];  // by turns: of the stage that is multiplied, of the one that is widened
  LaneScales<W> scales, next;
  scales.load(from, 0);
  next.load(from, 1);
  bool are_special = scales.are_special();
  dense_kernels::cuda::wait_for_phase(shared.full_at(at.stage), at.parity);
  widen_rows(shared.stage[at.stage], row, lane % 4, scales, are_special, 0, rows[0]);
#pragma unroll 1
  for (int32_t first = 0; first < stages; first += kSlice) {
#pragma unroll
    for (int within = 0; within < kSlice; ++within) {
      if (within > 0 && first + within >= stages) break;
      const bool is_last = first + within + 1 == stages;
      const uint32_t used = shared.empty_at(at.stage);
      start_products<kTokens>(sums, rows[within % 2], shared.stage[at.stage], within);
      at.advance();
      if (!is_last) {
        dense_kernels::cuda::wait_for_phase(shared.full_at(at.stage), at.parity);
        if (within == kSlice - 1) {
          scales = next;
          are_special = scales.are_special();
          next.load(from, first / kSlice + 2);
        }
        widen_rows(shared.stage[at.stage], row, lane % 4, scales, are_special,
                   (within + 1) % kSlice, rows[(within + 1) % 2]);
      }
      dense_kernels::cuda::wgmma_wait();
      dense_kernels::cuda::pin(sums);
      dense_kernels::cuda::pin(rows[within % 2]);
      dense_kernels::cuda::arrive(used);
      if (within < kSlice - 1 && !is_last) continue;
#pragma unroll
      for (int i = 0; i < kTokens / 2; ++i) totals[i] += sums[i];
    }
  }
}

#endif

}  // namespace moe_kernels::cuda

#endif
