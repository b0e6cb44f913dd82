// The work of the streaming kernels: units of one row tile of weights times up to `rows` permuted
// rows of one expert. Every block lists the experts that have rows in shared memory, for no size is
// known to the host; then each worker, a block or a warp, walks over a range of neighbouring units.
#ifndef MOE_KERNELS_CUDA_DEVICE_EXPERT_UNITS_CUH
#define MOE_KERNELS_CUDA_DEVICE_EXPERT_UNITS_CUH

#include <stdint.h>

#include "block_scan.cuh"
#include "expert_tiles.cuh"

namespace moe_kernels::cuda {

// An expert that has rows.
struct ActiveExpert {
  int32_t before;  // tiles of the active experts before
  int32_t expert;
  int32_t first;  // its first permuted row
  int32_t rows;
};

// Active experts in ascending order. One entry more holds the number of all tiles in `before`.
struct UnitList {
  const ActiveExpert* active;  // shared [experts + 1]
  int32_t actives;
  int32_t row_tiles;  // of an expert's weights
};

constexpr int kListedOfLane = 4;  // experts that a lane looks at in one go
constexpr int kListedAtOnce = kListedOfLane * dense_kernels::cuda::kWarp;

// Fills `active` [experts + 1], for tiles of `kRows` rows; one warp. Returns how many are active.
// An expert whose rows do not lie in [0, slots) has none: offsets are not to be trusted. They are
// read past the first-level cache, which may hold what lay here before.
template <int kRows>
__device__ __forceinline__ int32_t list_active_experts(const int32_t* offsets, int32_t experts,
                                                       int32_t slots, ActiveExpert* active) {
  const int lane = threadIdx.x;
  int32_t actives = 0;
  int32_t all_tiles = 0;
#pragma unroll 1
  for (int32_t chunk = 0; chunk < experts; chunk += kListedAtOnce) {
    const int32_t own = chunk + lane * kListedOfLane;
    int32_t first[kListedOfLane + 1];
#pragma unroll
    for (int i = 0; i <= kListedOfLane; ++i) first[i] = __ldcg(offsets + min(own + i, experts));
    int32_t used = 0;
    int32_t tiles = 0;
#pragma unroll
    for (int i = 0; i < kListedOfLane; ++i) {
      const bool is_active = first[i] >= 0 && first[i + 1] <= slots && first[i + 1] > first[i];
      if (is_active) used |= 1 << i;
      if (is_active) tiles += (first[i + 1] - first[i] - 1) / kRows + 1;
    }
    const int32_t tiles_through = warp_sum_through(tiles, lane);
    const int32_t used_through = warp_sum_through(__popc(used), lane);
    int32_t at = actives + used_through - __popc(used);
    int32_t before = all_tiles + tiles_through - tiles;
#pragma unroll
    for (int i = 0; i < kListedOfLane; ++i) {
      if ((used >> i & 1) == 0) continue;
      const int32_t rows = first[i + 1] - first[i];
      active[at++] = {before, own + i, first[i], rows};
      before += (rows - 1) / kRows + 1;
    }
    constexpr int kLast = dense_kernels::cuda::kWarp - 1;
    all_tiles += __shfl_sync(dense_kernels::cuda::kAllLanes, tiles_through, kLast);
    actives += __shfl_sync(dense_kernels::cuda::kAllLanes, used_through, kLast);
  }
  if (lane == 0) active[actives] = {all_tiles, 0, 0, 0};
  return actives;
}

// A share of some units: as even as can be, in order.
struct UnitShare {
  uint32_t first;
  uint32_t count;

  __device__ __forceinline__ UnitShare part(uint32_t number, uint32_t parts) const {
    const uint32_t each = count < parts ? 0 : count / parts;  // a division is slow to begin with
    const uint32_t rest = count - each * parts;
    return {first + number * each + min(number, rest), each + (number < rest ? 1 : 0)};
  }
};

// All units. 32 bits will do: 2^32 of them would have results of a terabyte.
__device__ __forceinline__ UnitShare all_units(const UnitList& list) {
  return {0, static_cast<uint32_t>(list.active[list.actives].before) *
                 static_cast<uint32_t>(list.row_tiles)};
}

// Where a walk is. Experts come one after the other; within one, the tiles of rows that share a row
// tile of weights are neighbours, so that they find it in the second-level cache.
struct UnitWalk {
  int32_t left;      // units to come, this one included
  int32_t at;        // in the list
  int32_t row_tile;  // of weights
  int32_t tile;      // of the expert's rows

  __device__ __forceinline__ UnitWalk(const UnitList& list, const UnitShare& share)
      : left(static_cast<int32_t>(share.count)), at(0), row_tile(0), tile(0) {
    if (left == 0) return;
    const uint32_t row_tiles = static_cast<uint32_t>(list.row_tiles);
    const auto units_before = [&](int32_t i) {
      return static_cast<uint32_t>(list.active[i].before) * row_tiles;
    };
    int32_t end = list.actives;
#pragma unroll 1
    while (end - at > 1) {
      const int32_t middle = (at + end) / 2;
      if (units_before(middle) <= share.first) {
        at = middle;
      } else {
        end = middle;
      }
    }
    const uint32_t inside = share.first - units_before(at);
    const uint32_t tiles = static_cast<uint32_t>(tiles_here(list));
    row_tile = static_cast<int32_t>(tiles == 1 ? inside : inside / tiles);
    tile = static_cast<int32_t>(inside - row_tile * tiles);
  }

  __device__ __forceinline__ int32_t tiles_here(const UnitList& list) const {
    return list.active[at + 1].before - list.active[at].before;
  }

  // Its rows, of tiles of `kRows`.
  template <int kRows>
  __device__ __forceinline__ RowTile tile_of(const UnitList& list) const {
    const ActiveExpert here = list.active[at];
    const int32_t skipped = tile * kRows;
    return {here.expert, here.first + skipped, min(here.rows - skipped, kRows)};
  }

  __device__ __forceinline__ void advance(const UnitList& list) {
    --left;
    if (++tile < tiles_here(list)) return;
    tile = 0;
    if (++row_tile < list.row_tiles) return;
    row_tile = 0;
    ++at;
  }
};

}  // namespace moe_kernels::cuda

#endif
