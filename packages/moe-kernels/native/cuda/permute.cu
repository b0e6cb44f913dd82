// Groups (token, slot) pairs by expert on CUDA: a stable counting sort in one block.
//
// Each warp owns a contiguous part of the pairs and counts its experts in shared memory of its own,
// so ranks follow from the order of the pairs alone: no atomics, equal ids give equal maps. Two
// passes over the ids; the second finds them in the cache. One block: the experts' weights take far
// longer to arrive from memory, and a grid would need barriers among blocks (docs/permute.md).
// permute_few is for up to 256 pairs and no tiles.
#include "dense_kernels/cuda/pdl.cuh"
#include "device/block_scan.cuh"
#include "device/few_pairs.cuh"
#include "moe_kernels/permute.h"

namespace moe_kernels::cuda {
namespace {

using namespace dense_kernels::cuda;

constexpr int kAhead = 4;       // ids of a lane on their way at once
constexpr int32_t kOther = -1;  // the bin of pairs without a local expert

// The local expert of an id. The comparison with the offset keeps any id from wrapping into range.
__device__ __forceinline__ int32_t bin_of(const PermuteParams& p, int32_t id) {
  const uint32_t expert = static_cast<uint32_t>(id) - static_cast<uint32_t>(p.expert_offset);
  const bool is_local = id >= p.expert_offset && expert < static_cast<uint32_t>(p.experts);
  return is_local ? static_cast<int32_t>(expert) : kOther;
}

// Calls visit(pair, bin) for the pairs [begin, end) of a warp, 32 in a step, in ascending order.
// Lanes behind the end see a pair of -1 and no bin.
template <typename Visit>
__device__ __forceinline__ void for_each_pair(const PermuteParams& p, int64_t begin, int64_t end,
                                              Visit visit) {
  const int32_t* ids = static_cast<const int32_t*>(p.ids);
  for (int64_t base = begin; base < end; base += kWarp * kAhead) {
    int32_t bin[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int64_t pair = base + i * kWarp + lane_id();
      bin[i] = pair < end ? bin_of(p, ids[pair]) : kOther;
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int64_t pair = base + i * kWarp + lane_id();
      visit(pair < end ? pair : -1, bin[i]);
    }
  }
}

// counts[bin] of the warp, raised by the lanes with that bin. Returns what it was, plus the number
// of lanes below with the same bin: the rank of this lane's pair.
__device__ __forceinline__ int32_t take_rank(int32_t* counts, int32_t bin) {
  const uint32_t same = __match_any_sync(kAllLanes, bin);
  const uint32_t below = same & ((1u << lane_id()) - 1u);
  const int32_t before = bin == kOther ? 0 : counts[bin];
  __syncwarp();
  if (bin != kOther && below == 0) counts[bin] = before + __popc(same);
  __syncwarp();
  return before + __popc(below);
}

// Experts [first, end) of a thread.
struct ExpertRange {
  int32_t first;
  int32_t end;
};

__device__ __forceinline__ int32_t rows_of(const int32_t* counts, int32_t experts, int32_t e) {
  int32_t rows = 0;
  for (int w = 0; w < thread_count() / kWarp; ++w) rows += counts[w * experts + e];
  return rows;
}

// Turns the counts of all warps into the first row that each warp gives to each expert, and writes
// the offsets. Returns the rows in use.
__device__ __forceinline__ int32_t place_experts(const PermuteParams& p, ExpertRange mine,
                                                 int32_t* counts, int32_t* scratch) {
  int32_t rows = 0;
  for (int32_t e = mine.first; e < mine.end; ++e) rows += rows_of(counts, p.experts, e);
  int32_t next = block_sum_before(rows, scratch);
  int32_t* offsets = static_cast<int32_t*>(p.offsets);
  for (int32_t e = mine.first; e < mine.end; ++e) {
    offsets[e] = next;
    for (int w = 0; w < thread_count() / kWarp; ++w) {
      const int32_t own = counts[w * p.experts + e];
      counts[w * p.experts + e] = next;
      next += own;
    }
  }
  __shared__ int32_t total;
  if (thread_number() == thread_count() - 1) {
    offsets[p.experts] = next;
    total = next;
  }
  __syncthreads();
  return total;
}

__device__ __forceinline__ void write_tile(int32_t* tiles, int32_t tile, int32_t expert,
                                           int32_t first, int32_t rows) {
  tiles[int64_t{tile} * 3] = expert;
  tiles[int64_t{tile} * 3 + 1] = first;
  tiles[int64_t{tile} * 3 + 2] = rows;
}

// Cuts each expert's rows into tiles of at most tile_rows, experts in ascending order. Reads the
// offsets that this block wrote before a barrier.
__device__ __forceinline__ void list_tiles(const PermuteParams& p, ExpertRange mine,
                                           int32_t* scratch) {
  const int32_t* offsets = static_cast<const int32_t*>(p.offsets);
  int32_t* tiles = static_cast<int32_t*>(p.tiles);
  int32_t own = 0;
  for (int32_t e = mine.first; e < mine.end; ++e) {
    own += (offsets[e + 1] - offsets[e] + p.tile_rows - 1) / p.tile_rows;
  }
  int32_t tile = block_sum_before(own, scratch);
  for (int32_t e = mine.first; e < mine.end; ++e) {
    for (int32_t row = offsets[e]; row < offsets[e + 1]; row += p.tile_rows, ++tile) {
      if (tile >= p.max_tiles) continue;
      write_tile(tiles, tile, e, row, min(offsets[e + 1] - row, p.tile_rows));
    }
  }
  __shared__ int32_t used;
  if (thread_number() == thread_count() - 1) {
    used = min(tile, p.max_tiles);
    *static_cast<int32_t*>(p.tile_count) = used;
  }
  __syncthreads();
  for (int32_t t = used + thread_number(); t < p.max_tiles; t += thread_count()) {
    write_tile(tiles, t, -1, 0, 0);
  }
}

__device__ __forceinline__ void sort_pairs(const PermuteParams& p, int32_t* counts) {
  __shared__ int32_t scratch[kWarp];
  const int threads = thread_count();
  const int warps = threads / kWarp;
  const int64_t pairs = int64_t{p.tokens} * p.k;
  int32_t* rows = static_cast<int32_t*>(p.rows);
  int32_t* slots = static_cast<int32_t*>(p.slots);
  int32_t* own_counts = counts + warp_id() * p.experts;
  for (int32_t i = thread_number(); i < warps * p.experts; i += threads) counts[i] = 0;
  __syncthreads();
  // 1. rows of each expert in each warp's part
  const int64_t part = (pairs + threads - 1) / threads * kWarp;
  const int64_t begin = warp_id() * part;
  const int64_t end = begin + part < pairs ? begin + part : pairs;
  for_each_pair(p, begin, end, [&](int64_t, int32_t bin) { take_rank(own_counts, bin); });
  __syncthreads();
  // 2. where each expert starts, and each warp in it
  const int32_t share = (p.experts + threads - 1) / threads;
  const int32_t first = min(thread_number() * share, p.experts);
  const ExpertRange mine = {first, min(first + share, p.experts)};
  const int32_t total = place_experts(p, mine, counts, scratch);
  // 3. both directions of the map
  for_each_pair(p, begin, end, [&](int64_t pair, int32_t bin) {
    const int32_t row = take_rank(own_counts, bin);
    if (pair < 0) return;
    slots[pair] = bin == kOther ? -1 : row;
    if (bin != kOther) rows[row] = static_cast<int32_t>(pair);
  });
  for (int64_t row = total + thread_number(); row < pairs; row += threads) rows[row] = -1;
  // 4. work list of a tiled kernel
  if (p.tiles != nullptr) list_tiles(p, mine, scratch);
}

__device__ __forceinline__ void sort_few_pairs(const PermuteParams& p) {
  __shared__ PairKeys keys;
  const PairMaps maps = {static_cast<int32_t*>(p.offsets),
                         static_cast<int32_t*>(p.rows),
                         static_cast<int32_t*>(p.slots),
                         p.tokens * p.k,
                         p.expert_offset,
                         p.experts};
  pad_keys(maps, keys);
  wait_and_trigger();
#pragma unroll 1
  for (int pair = threadIdx.x; pair < maps.pairs; pair += blockDim.x) {
    put_key(maps, keys, pair, static_cast<const int32_t*>(p.ids)[pair]);
  }
  __syncthreads();
  place_pairs(maps, keys);
}

}  // namespace
}  // namespace moe_kernels::cuda

// Dynamic shared memory: [warps, experts] i32.
extern "C" __global__ void __launch_bounds__(1024)
    permute(__grid_constant__ const PermuteParams p) {
  extern __shared__ int32_t counts[];
  dense_kernels::cuda::wait_for_predecessors();
  dense_kernels::cuda::launch_dependents();
  moe_kernels::cuda::sort_pairs(p, counts);
}

// At most 256 pairs, no tiles.
extern "C" __global__ void __launch_bounds__(256)
    permute_few(__grid_constant__ const PermuteParams p) {
  moe_kernels::cuda::sort_few_pairs(p);
}
