// The weights of a warp on their way through shared memory: a ring of groups of 16 rows. The loader
// runs ahead of the sums, across units, so that the memory never waits for the end of one.
//
// A lane reads back the very bytes that it asked for; only the scales pass between lanes.
#ifndef MOE_KERNELS_CUDA_DEVICE_EXPERT_RING_CUH
#define MOE_KERNELS_CUDA_DEVICE_EXPERT_RING_CUH

#include <stdint.h>

#include "dense_kernels/cuda/mma.cuh"
#include "dense_kernels/cuda/vector.cuh"
#include "expert_problems.cuh"
#include "expert_units.cuh"
#include "expert_weights.cuh"

namespace moe_kernels::cuda {

constexpr int kRingStages = 6;
// Slices whose scales are kept: the ring may reach from one over a short one into a third.
constexpr int kRingSlices = 4;

// A group of 16 weight rows: rows g and g + 8 as the lanes hold them.
struct RingStage {
  uint4 raw[2][dense_kernels::cuda::kWarp];
};

// Scales of a slice.
struct RingScales {
  uint8_t scale[kRowTile][8];
};

// Copies 4 aligned bytes in the background, zeros if `exists` is false.
__device__ __forceinline__ void copy4_async(void* to, const void* from, bool exists) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :
               : "r"(dense_kernels::cuda::shared_address(to)), "l"(from), "r"(exists ? 4 : 0)
               : "memory");
}

// As copy16_async, for weights, which a step reads once.
__device__ __forceinline__ void copy16_once(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;"
               :
               : "r"(dense_kernels::cuda::shared_address(to)), "l"(from),
                 "l"(dense_kernels::cuda::read_once())
               : "memory");
}

// Whether cp.async can bring every weight and scale, and columns fill whole groups. What is not so is
// computed another way: expert_any.cuh.
template <typename W, typename Problem>
__device__ __forceinline__ bool suits_ring(const Problem& problem) {
  const int32_t columns = problem.columns();
  const bool is_whole = columns % W::kGroup == 0 &&
                        dense_kernels::cuda::is_aligned(problem.activations()) &&
                        dense_kernels::cuda::is_aligned(problem.weights());
  if constexpr (!W::kIsScaled) return is_whole;
  return is_whole && scale_rows_are_whole(problem.p.scales, columns / kScaleColumns);
}

// The columns of a warp, the same in each of its units.
struct WarpColumns {
  int32_t first;   // slice
  int32_t groups;  // from there on
};

template <typename W, typename Problem>
struct RingLoader {
  const Problem& problem;
  const UnitList& list;
  const WarpColumns& columns;
  RingStage* ring;       // [kRingStages] of this warp
  RingScales* scales;    // [kRingSlices] of this warp
  UnitWalk walk;         // the unit whose groups come next
  int32_t left;          // groups of it to ask for
  uint32_t slice;        // slices begun so far, in all units
  int32_t block;         // the lane's next blocks of scales
  const uint8_t* row[2];  // the lane's next bytes of rows g and g + 8
  const uint8_t* scale;   // row g, or g + 8 for lanes with q >= 2

  __device__ __forceinline__ RingLoader(const Problem& a_problem, const UnitList& a_list,
                                        const WarpColumns& some_columns, const UnitWalk& a_walk,
                                        RingStage* a_ring, RingScales* some_scales)
      : problem(a_problem),
        list(a_list),
        columns(some_columns),
        ring(a_ring),
        scales(some_scales),
        walk(a_walk),
        slice(0) {
    enter();
#pragma unroll 1
    for (int i = 0; i < kRingStages; ++i) load(i);
  }

  // Begins the unit where the walk is.
  __device__ __forceinline__ void enter() {
    left = walk.left > 0 ? columns.groups : 0;
    if (left == 0) return;
    const int g = threadIdx.x / 4;
    const int q = threadIdx.x % 4;
    const int64_t expert_row = list.active[walk.at].expert * problem.weight_rows();
    const int64_t low = expert_row + problem.weight_row(walk.row_tile, g);
    const int64_t high = expert_row + problem.weight_row(walk.row_tile, g + kPairs);
    const int64_t bytes = int64_t{problem.columns()} * W::kElementBytes;
    const int32_t lane = (columns.first * W::kSlice + q * W::kLaneColumns) * W::kElementBytes;
    const uint8_t* weights = static_cast<const uint8_t*>(problem.weights()) + lane;
    row[0] = weights + low * bytes;
    row[1] = weights + high * bytes;
    if constexpr (W::kIsScaled) {
      scale = static_cast<const uint8_t*>(problem.p.scales) +
              (q < 2 ? low : high) * (problem.columns() / kScaleColumns);
      block = columns.first * kSliceBlocks<W> + q % 2 * 4;
    }
  }

  // Asks for the next group, if there is one, in a stage that was used up.
  __device__ __forceinline__ void load(int stage) {
    if (left > 0) {
      const int lane = threadIdx.x;
      copy16_once(&ring[stage].raw[0][lane], row[0]);
      copy16_once(&ring[stage].raw[1][lane], row[1]);
      row[0] += W::kGroup * W::kElementBytes;
      row[1] += W::kGroup * W::kElementBytes;
      if constexpr (W::kIsScaled) {
        if ((columns.groups - left) % kGroups == 0) copy_scales();
      }
      if (--left == 0) {
        walk.advance(list);
        enter();
      }
    }
    dense_kernels::cuda::commit_copies();
  }

  __device__ __forceinline__ void copy_scales() {
    const int q = threadIdx.x % 4;
    const int r = threadIdx.x / 4 + q / 2 * kPairs;
    const bool exists = block < problem.columns() / kScaleColumns;
    copy4_async(&scales[slice % kRingSlices].scale[r][q % 2 * 4], exists ? scale + block : scale,
                exists);
    block += kSliceBlocks<W>;
    ++slice;
  }
};

}  // namespace moe_kernels::cuda

#endif
