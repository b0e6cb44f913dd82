// The work list of a grouped matrix product, made on the device from the first row of each expert:
// no size is known to the host. Every block makes it for itself in shared memory.
#ifndef MOE_KERNELS_CUDA_DEVICE_EXPERT_TILES_CUH
#define MOE_KERNELS_CUDA_DEVICE_EXPERT_TILES_CUH

#include <stdint.h>

#include "block_scan.cuh"

namespace moe_kernels::cuda {

// `count` permuted rows of one expert from `first` on.
struct RowTile {
  int32_t expert;
  int32_t first;
  int32_t count;
};

// Tiles of at most `rows` rows, experts in ascending order.
struct ExpertTiles {
  const int32_t* offsets;  // [experts + 1], data of the device
  int32_t* before;         // shared [experts + 1]: tiles of the experts before each
  int32_t experts;
  int32_t slots;
  int32_t rows;
};

// Rows of an expert; none when they do not lie in [0, slots): offsets are not to be trusted.
__device__ __forceinline__ int32_t rows_of(const ExpertTiles& t, int32_t expert) {
  const int32_t first = t.offsets[expert];
  const int32_t end = t.offsets[expert + 1];
  return first >= 0 && end <= t.slots && end > first ? end - first : 0;
}

__device__ __forceinline__ int32_t tiles_of(const ExpertTiles& t, int32_t expert) {
  const int32_t rows = rows_of(t, expert);
  return rows > 0 ? (rows - 1) / t.rows + 1 : 0;
}

// Fills `before`; called by every thread of the block. Returns the number of tiles.
__device__ __forceinline__ int32_t list_tiles(const ExpertTiles& t) {
  __shared__ int32_t scratch[dense_kernels::cuda::kWarp];
  const int32_t share = (t.experts + thread_count() - 1) / thread_count();
  const int32_t first = min(thread_number() * share, t.experts);
  const int32_t end = min(first + share, t.experts);
  int32_t own = 0;
  for (int32_t e = first; e < end; ++e) own += tiles_of(t, e);
  int32_t next = block_sum_before(own, scratch);
  for (int32_t e = first; e < end; ++e) {
    t.before[e] = next;
    next += tiles_of(t, e);
  }
  if (thread_number() == thread_count() - 1) t.before[t.experts] = next;
  __syncthreads();
  return t.before[t.experts];
}

// A unit of work: a block of weight rows of one expert times a tile of its rows.
struct Unit {
  RowTile tile;
  int32_t block;
};

// Unit `number` of tiles * blocks. Experts come one after the other; within one, the tiles that
// share a block of weights are neighbours, so that they find it in the second-level cache.
__device__ __forceinline__ Unit find_unit(const ExpertTiles& t, int64_t number, int32_t blocks) {
  const int32_t tile = static_cast<int32_t>(number / blocks);
  int32_t low = 0;  // the last expert that `tile` tiles or fewer come before
  int32_t high = t.experts;
  while (high - low > 1) {
    const int32_t middle = (low + high) / 2;
    if (t.before[middle] <= tile) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const int32_t tiles = t.before[low + 1] - t.before[low];
  const int64_t inside = number - int64_t{t.before[low]} * blocks;
  const int32_t skipped = static_cast<int32_t>(inside % tiles) * t.rows;
  const int32_t count = min(rows_of(t, low) - skipped, t.rows);
  return {{low, t.offsets[low] + skipped, count}, static_cast<int32_t>(inside / tiles)};
}

}  // namespace moe_kernels::cuda

#endif
