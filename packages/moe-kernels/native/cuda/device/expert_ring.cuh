// The weights of a warp on their way through shared memory: a ring of slices of 16 rows. The loader
// runs ahead of the sums, across units, so that the memory never waits for the end of one.
//
// A lane reads back the very bytes that it asked for; only the scales pass between lanes.
#ifndef MOE_KERNELS_CUDA_DEVICE_EXPERT_RING_CUH
#define MOE_KERNELS_CUDA_DEVICE_EXPERT_RING_CUH

#include <stdint.h>

#include "dense_kernels/cuda/mma.cuh"
#include "dense_kernels/cuda/vector.cuh"
#include "expert_problems.cuh"
#include "expert_tiles.cuh"
#include "expert_weights.cuh"

namespace moe_kernels::cuda {

constexpr int kRingStages = 2;

// A slice of 16 weight rows.
struct RingStage {
  uint4 raw[kGroups][2][dense_kernels::cuda::kWarp];  // rows g and g + 8 as the lanes hold them
  uint32_t scales[kRowTile][2];                       // eight blocks
};

// Copies 4 aligned bytes in the background, zeros if `exists` is false.
__device__ __forceinline__ void copy4_async(void* to, const void* from, bool exists) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :
               : "r"(dense_kernels::cuda::shared_address(to)), "l"(from), "r"(exists ? 4 : 0)
               : "memory");
}

// As copy16_async, for weights, which a step reads once.
__device__ __forceinline__ void copy16_once(void* to, const void* from, bool exists) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;"
               :
               : "r"(dense_kernels::cuda::shared_address(to)), "l"(from), "r"(exists ? 16 : 0),
                 "l"(dense_kernels::cuda::read_once())
               : "memory");
}

// How the units of a launch lie.
struct UnitRange {
  ExpertTiles tiles;
  int64_t units;
  int32_t blocks;  // of weight rows, an expert
};

template <typename W, typename Problem>
struct RingLoader {
  const Problem& problem;
  const UnitRange& range;
  RingStage* ring;           // [kRingStages] of this warp
  int64_t number;            // the unit that comes next
  int32_t slice;             // and its slice
  uint32_t loads;            // so far
  const uint8_t* weight[2];  // rows g and g + 8
  const uint8_t* scale;      // row g, or g + 8 for lanes with q >= 2
  bool weights_whole;        // rows start at multiples of 16 bytes and fill them
  bool scales_whole;         // ScaleRow

  __device__ __forceinline__ RingLoader(const Problem& a_problem, const UnitRange& a_range,
                                        RingStage* a_ring)
      : problem(a_problem), range(a_range), ring(a_ring), number(blockIdx.x), slice(0), loads(0) {
    const void* weights = problem.weights();
    weights_whole = dense_kernels::cuda::is_aligned(weights) &&
                    int64_t{problem.columns()} * W::kElementBytes % 16 == 0;
    scales_whole = scale_rows_are_whole(problem.p.scales, problem.columns() / kScaleColumns);
    enter();
    for (int i = 0; i < kRingStages; ++i) load();
  }

  // Goes to the first unit from `number` on in which this warp has a row tile.
  __device__ __forceinline__ void enter() {
    for (; number < range.units; number += gridDim.x) {
      const Unit unit = find_unit(range.tiles, number, range.blocks);
      const int32_t row_tile = unit.block * static_cast<int32_t>(blockDim.z) + threadIdx.z;
      if (row_tile >= row_tiles(problem)) continue;
      point_at(unit.tile.expert * problem.weight_rows(), row_tile);
      slice = threadIdx.y;
      return;
    }
  }

  __device__ __forceinline__ void point_at(int64_t expert_row, int32_t row_tile) {
    const int g = threadIdx.x / 4;
    const int q = threadIdx.x % 4;
    const int64_t columns = problem.columns();
    const auto row = [&](int r) { return expert_row + problem.weight_row(row_tile, r); };
    const uint8_t* weights = static_cast<const uint8_t*>(problem.weights());
    weight[0] = weights + row(g) * columns * W::kElementBytes;
    weight[1] = weights + row(g + kPairs) * columns * W::kElementBytes;
    scale = static_cast<const uint8_t*>(problem.p.scales) +
            row(g + q / 2 * kPairs) * (columns / kScaleColumns);
  }

  // Asks for the next slice, if there is one, in the stage that was used up.
  __device__ __forceinline__ void load() {
    const int32_t slices = (problem.columns() + W::kSlice - 1) / W::kSlice;
    if (number < range.units && slice < slices) {
      copy_slice(ring[loads % kRingStages]);
      slice += blockDim.y;
      if (slice >= slices) {
        number += gridDim.x;
        enter();
      }
    }
    dense_kernels::cuda::commit_copies();
    ++loads;
  }

  __device__ __forceinline__ void copy_slice(RingStage& to) {
    const int lane = threadIdx.x;
    const int q = lane % 4;
    const int32_t columns = problem.columns();
    const auto each = [&](int group, int i, auto copy) {
      const int32_t column = slice * W::kSlice + group * W::kGroup + q * W::kLaneColumns;
      const uint8_t* from = weight[i] + int64_t{column} * W::kElementBytes;
      copy(&to.raw[group][i][lane], from, (columns - column) * W::kElementBytes);
    };
    if (weights_whole) {
#pragma unroll
      for (int part = 0; part < 2 * kGroups; ++part) {
        each(part / 2, part % 2, [&](uint4* word, const uint8_t* from, int32_t left) {
          const uint8_t* valid = left > 0 ? from : weight[0];
          copy16_once(word, valid, left > 0);
        });
      }
    } else {
      const auto gather = [](uint4* word, const uint8_t* from, int32_t left) {
        *word = gather16(from, left);
      };
#pragma unroll 1
      for (int group = 0; group < kGroups; ++group) {
        each(group, 0, gather);
        each(group, 1, gather);
      }
    }
    if constexpr (W::kIsScaled) {
      const int32_t blocks = columns / kScaleColumns;
      const int32_t first = slice * (W::kSlice / kScaleColumns) + q % 2 * 4;
      uint32_t* word = &to.scales[lane / 4 + q / 2 * kPairs][q % 2];
      if (scales_whole) {
        const bool exists = first < blocks;
        copy4_async(word, exists ? scale + first : scale, exists);
      } else {
        *word = load_scales({scale, blocks, false}, first);
      }
    }
  }
};

}  // namespace moe_kernels::cuda

#endif
