// The weights of a warp on their way through shared memory: a ring of stages of two groups of 16
// rows. The loader runs ahead of the sums, across units, so that the memory never waits for the end
// of one.
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

constexpr int kRingStages = 3;
constexpr int kStageGroups = 2;
constexpr int kRingSliceStages = kGroups / kStageGroups;

template <typename W>
constexpr int kRingColumns = kStageGroups * W::kGroup;

// A stage, in bytes: two groups of 16 weight rows, rows g and g + 8 as the lanes hold them, then
// four scales of each row.
template <typename W>
struct RingStage {
  static constexpr int kRows = 16 * dense_kernels::cuda::kWarp;  // one of the two rows of all lanes
  static constexpr int kGroup = 2 * kRows;
  static constexpr int kScales = kStageGroups * kGroup;
  static constexpr int kRowScales = kRingColumns<W> / kScaleColumns;
  static constexpr int kBytes = kScales + (W::kIsScaled ? kRowTile * kRowScales : 0);
};

// An address of shared memory that the compiler keeps, instead of making it again at each use.
__device__ __forceinline__ uint32_t kept_address(const void* shared) {
  uint32_t address = dense_kernels::cuda::shared_address(shared);
  asm volatile("" : "+r"(address));
  return address;
}

__device__ __forceinline__ uint4 load16_shared(uint32_t address) {
  uint4 word;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
               : "r"(address));
  return word;
}

__device__ __forceinline__ uint32_t load4_shared(uint32_t address) {
  uint32_t word;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address));
  return word;
}

__device__ __forceinline__ uint32_t load1_shared(uint32_t address) {
  uint32_t byte;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(byte) : "r"(address));
  return byte;
}

// Copies 4 aligned bytes in the background.
__device__ __forceinline__ void copy4_async(uint32_t to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"(to), "l"(from) : "memory");
}

// Copies 16 aligned bytes of weights, which a step reads once, in the background.
__device__ __forceinline__ void copy16_once(uint32_t to, const void* from) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;"
               :
               : "r"(to), "l"(from), "l"(dense_kernels::cuda::read_once())
               : "memory");
}

// Whether cp.async can bring every weight and scale, and columns fill whole stages. What is not so
// is computed another way: expert_any.cuh.
template <typename W, typename Problem>
__device__ __forceinline__ bool suits_ring(const Problem& problem) {
  const bool is_whole = problem.columns() % kRingColumns<W> == 0 &&
                        dense_kernels::cuda::is_aligned(problem.activations()) &&
                        dense_kernels::cuda::is_aligned(problem.weights());
  if constexpr (!W::kIsScaled) return is_whole;
  return is_whole && dense_kernels::cuda::is_aligned(problem.p.scales, 4);
}

// The columns of a warp, the same in each of its units, where they suit the ring.
struct WarpColumns {
  int32_t first;   // slice
  int32_t stages;  // from there on
};

// Those of warp `number` of `warps` that share them: slices as even as can be, in order.
template <typename W>
__device__ __forceinline__ WarpColumns columns_of_warp(int32_t columns, uint32_t number,
                                                       uint32_t warps) {
  const UnitShare all = {0, static_cast<uint32_t>((columns + W::kSlice - 1) / W::kSlice)};
  const UnitShare own = all.part(number, warps);
  const int32_t first = static_cast<int32_t>(own.first);
  const int32_t stages = columns / kRingColumns<W> - first * kRingSliceStages;
  return {first, min(static_cast<int32_t>(own.count) * kRingSliceStages, stages)};
}

template <typename W, typename Problem>
struct RingLoader {
  typedef RingStage<W> Stage;
  static constexpr int kGroupBytes = W::kGroup * W::kElementBytes;  // of a row

  const Problem& problem;
  const UnitList& list;
  const WarpColumns& columns;
  uint32_t to;            // the lane's bytes of the warp's ring
  uint32_t scales_to;     // the scales of row `lane`
  UnitWalk walk;          // the unit whose stages come next
  int32_t left;           // stages of it to ask for
  const uint8_t* row[2];  // the lane's next bytes of rows g and g + 8
  const uint8_t* scale;   // lanes 0 to 15: the next scales of row `lane`

  __device__ __forceinline__ RingLoader(const Problem& a_problem, const UnitList& a_list,
                                        const WarpColumns& some_columns, const UnitWalk& a_walk,
                                        uint32_t ring)
      : problem(a_problem),
        list(a_list),
        columns(some_columns),
        to(ring + threadIdx.x * 16),
        scales_to(ring + Stage::kScales + threadIdx.x * Stage::kRowScales),
        walk(a_walk) {
    enter();
#pragma unroll 1
    for (int i = 0; i < kRingStages; ++i) load(i * Stage::kBytes);
  }

  // Begins the unit where the walk is.
  __device__ __forceinline__ void enter() {
    left = walk.left > 0 ? columns.stages : 0;
    if (left == 0) return;
    const int lane = threadIdx.x;
    const int64_t expert_row = list.active[walk.at].expert * problem.weight_rows();
    const int64_t bytes = int64_t{problem.columns()} * W::kElementBytes;
    const int32_t column = columns.first * W::kSlice + lane % 4 * W::kLaneColumns;
    const uint8_t* weights =
        static_cast<const uint8_t*>(problem.weights()) + column * W::kElementBytes;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int r = lane / 4 + i * kPairs;
      row[i] = weights + (expert_row + problem.weight_row(walk.row_tile, r)) * bytes;
    }
    if constexpr (W::kIsScaled) {
      const int64_t r = expert_row + problem.weight_row(walk.row_tile, lane % kRowTile);
      scale = static_cast<const uint8_t*>(problem.p.scales) +
              r * (problem.columns() / kScaleColumns) + columns.first * kSliceBlocks<W>;
    }
  }

  // Asks for the next stage, if there is one, in the place of one that was used up, `stage` bytes
  // behind the start of the ring.
  __device__ __forceinline__ void load(uint32_t stage) {
    if (left > 0) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int group = 0; group < kStageGroups; ++group) {
          copy16_once(to + stage + group * Stage::kGroup + i * Stage::kRows,
                      row[i] + group * kGroupBytes);
        }
        row[i] += kStageGroups * kGroupBytes;
      }
      if constexpr (W::kIsScaled) {
        if (threadIdx.x < kRowTile) copy4_async(scales_to + stage, scale);
        scale += Stage::kRowScales;
      }
      if (--left == 0) {
        walk.advance(list);
        enter();
      }
    }
    dense_kernels::cuda::commit_copies();
  }
};

}  // namespace moe_kernels::cuda

#endif
