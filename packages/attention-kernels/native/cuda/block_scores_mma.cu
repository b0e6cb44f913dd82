// Block scores on tensor cores: bf16, the largest score, index_dim 32, 64 or 128.
//
// The warps of a block score one block of the context at a time for 16 rows, which are the index
// heads of up to tile_tokens tokens; each has steps of 32 keys of its own. A lane copies what it
// multiplies, 16 bytes at a time: the four lanes of a key take 8 dims each of every 32, q is cut
// alike, so a dot product only sums in another order. That order, and so a score, is the same
// whatever else is in the tile.
//
// The tensor core cuts the low bits of its sums, so it only sums 16 products at a time; those are
// added in fp32 with rounding.
//
// A decode step finds this code cold: it is short, and the loop over a step's keys is rolled.
#include "attention_kernels/block_scores.h"
#include "dense_kernels/cuda/mma.cuh"
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/reduce.cuh"
#include "dense_kernels/cuda/vector.cuh"

#include "device/blocks.cuh"

namespace attention_kernels::cuda {
namespace {

using dense_kernels::cuda::Bf16;
using dense_kernels::cuda::commit_copies;
using dense_kernels::cuda::copy16_async;
using dense_kernels::cuda::kAllLanes;
using dense_kernels::cuda::lane_id;
using dense_kernels::cuda::load16;
using dense_kernels::cuda::Max;
using dense_kernels::cuda::mma_bf16;
using dense_kernels::cuda::wait_copies;
using dense_kernels::cuda::warp_id;
using dense_kernels::cuda::warp_reduce;

constexpr int kWarps = 4;
constexpr int kRows = 16;
constexpr int kChunkDims = 32;  // dims that one copy of four lanes covers
constexpr int kKeys = 32;       // keys of a step, in four groups of eight
constexpr int kGroups = kKeys / 8;

template <int kChunks>
struct Shared {
  uint4 keys[kWarps][kGroups][kChunks][32];  // each lane's for itself
  float largest[2][kWarps][kRows];           // of every second block
};

// The tokens of a tile: lane t has token t, lanes behind them have -1.
struct Tokens {
  int32_t position;
  int32_t sequence;
  int32_t blocks;  // how many blocks need a score
};

__device__ __forceinline__ Tokens read_tokens(const BlockScoresParams& p, int32_t first,
                                              int32_t count) {
  const int64_t token = static_cast<int64_t>(p.first_token) + first + lane_id();
  Tokens tokens = {-1, -1, 0};
  if (lane_id() < count) {
    tokens.position = p.positions[token];
    tokens.sequence = p.sequence_ids[token];
  }
  const int32_t candidates = candidate_blocks(tokens.position, p.page_tokens, p.max_pages);
  tokens.blocks = candidates <= p.topk_blocks ? 0 : candidates;
  return tokens;
}

// A row's dims 8 * (lane % 4) + [0, 8) of each chunk of 32; zeros for a row that is none.
template <int kChunks>
__device__ __forceinline__ void load_query(const Bf16* row, bool exists, uint4 (&q)[kChunks]) {
#pragma unroll
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    q[chunk] = exists ? load16(row + 8 * (lane_id() % 4) + chunk * kChunkDims) : uint4{};
  }
}

// d = the 16 rows times eight keys, of which the thread holds its lane's part.
template <int kChunks>
__device__ __forceinline__ void dot_keys(float (&d)[4], const uint4 (&low)[kChunks],
                                         const uint4 (&high)[kChunks],
                                         const uint4 (&key)[kChunks]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) d[i] = 0.0f;
#pragma unroll
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    float first[4] = {}, second[4] = {};
    mma_bf16(first, {low[chunk].x, high[chunk].x, low[chunk].y, high[chunk].y},
             {key[chunk].x, key[chunk].y});
    mma_bf16(second, {low[chunk].z, high[chunk].z, low[chunk].w, high[chunk].w},
             {key[chunk].z, key[chunk].w});
#pragma unroll
    for (int i = 0; i < 4; ++i) d[i] = __fadd_rn(d[i], __fadd_rn(first[i], second[i]));
  }
}

// Starts to copy the step of a page that begins with key `first`. Behind the last key that may be
// seen that one is copied once more; its score is not taken.
template <int kChunks>
__device__ __forceinline__ void load_step(const Bf16* page, int32_t first, int32_t count,
                                          uint4 (*to)[kChunks][32]) {
  constexpr int kDims = kChunks * kChunkDims;
#pragma unroll 1
  for (int group = 0; group < kGroups; ++group) {
    const int32_t key = min(first + group * 8 + lane_id() / 4, count - 1);
    const Bf16* from = page + static_cast<int64_t>(key) * kDims + 8 * (lane_id() % 4);
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      copy16_async(&to[group][chunk][lane_id()], from + chunk * kChunkDims);
    }
  }
  commit_copies();
}

// Raises `largest` of the thread's two rows to the scores of a step's keys, of which row i may see
// those up to last[i]. NaN counts as -inf: fmaxf gives the other argument.
template <int kChunks>
__device__ __forceinline__ void score_step(const uint4 (*keys)[kChunks][32], const int32_t (&last)[2],
                                           const uint4 (&low)[kChunks],
                                           const uint4 (&high)[kChunks], float (&largest)[2]) {
#pragma unroll 1
  for (int group = 0; group < kGroups; ++group) {
    uint4 key[kChunks];
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) key[chunk] = keys[group][chunk][lane_id()];
    float scores[4];
    dot_keys<kChunks>(scores, low, high, key);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int32_t place = group * 8 + 2 * (lane_id() % 4) + i % 2;
      if (place <= last[i / 2]) largest[i / 2] = fmaxf(largest[i / 2], scores[i]);
    }
  }
}

// The block's rows, as its threads have them.
struct Rows {
  int32_t position[2];  // of rows lane / 4 and lane / 4 + 8, which the thread multiplies
  int32_t token;        // of row lane % 16, whose scores a lane of the first warp writes
  int32_t blocks;       // how many blocks of it need a score
  int64_t to;           // its first score
};

// Tokens [begin, end) of the tile, which share a sequence and have keys up to position `last`:
// their scores of this thread block's blocks of the context, of which there are `most`.
template <int kChunks>
__device__ __forceinline__ void score_run(Shared<kChunks>& s, const BlockScoresParams& p,
                                          int32_t begin, int32_t end, int32_t sequence,
                                          int32_t last, int32_t most, const Rows& rows,
                                          const uint4 (&low)[kChunks],
                                          const uint4 (&high)[kChunks]) {
  const int32_t warps = blockDim.x / 32;
  const bool is_known = sequence >= 0 && sequence < p.sequences;
  const int32_t* table = p.page_table + static_cast<int64_t>(is_known ? sequence : 0) * p.max_pages;
  const bool is_written = rows.token >= begin && rows.token < end;
  uint4(*keys)[kChunks][32] = s.keys[warp_id()];
  int turn = 0;
#pragma unroll 1
  for (int32_t block = blockIdx.y; block < most; block += gridDim.y, turn ^= 1) {
    const int32_t page = is_known ? table[block] : -1;
    float largest[2] = {kMinusInfinity, kMinusInfinity};
    const int32_t start = block * p.page_tokens;  // at most `last`
    const bool exists = page >= 0 && page < p.pages;
    const int32_t count = exists ? min(last - start, p.page_tokens - 1) + 1 : 0;
    const Bf16* from = static_cast<const Bf16*>(p.index_keys) +
                       static_cast<int64_t>(page) * p.page_tokens * (kChunks * kChunkDims);
#pragma unroll 1
    for (int32_t first = warp_id() * kKeys; first < count; first += warps * kKeys) {
      load_step<kChunks>(from, first, count, keys);
      // The rows' own positions, and the page's end, as numbers of the step's keys.
      const int32_t page_last = count - 1 - first;
      const int32_t row_last[2] = {min(rows.position[0] - start - first, page_last),
                                   min(rows.position[1] - start - first, page_last)};
      wait_copies<0>();
      score_step<kChunks>(keys, row_last, low, high, largest);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float score = warp_reduce<Max, 4>(largest[i]);
      if (lane_id() % 4 == 0) s.largest[turn][warp_id()][lane_id() / 4 + 8 * i] = score;
    }
    __syncthreads();  // all warps have written this turn, and read the one before
    if (threadIdx.x >= kRows || !is_written || block >= rows.blocks) continue;
    float score = s.largest[turn][0][threadIdx.x];
#pragma unroll 1
    for (int32_t warp = 1; warp < warps; ++warp) {
      score = fmaxf(score, s.largest[turn][warp][threadIdx.x]);
    }
    p.scores[rows.to + block] = score;
  }
  __syncthreads();  // the next run writes both turns
}

// Grid: x tile_tokens tokens of the launch, y a share of their blocks.
template <int kChunks>
__device__ __forceinline__ void block_scores(Shared<kChunks>& s, const BlockScoresParams& p) {
  const uint32_t heads = p.index_heads;
  const int32_t token_of[3] = {static_cast<int32_t>(lane_id() / 4 / heads),
                               static_cast<int32_t>((lane_id() / 4 + 8) / heads),
                               static_cast<int32_t>(lane_id() % kRows / heads)};
  const int32_t first = blockIdx.x * p.tile_tokens;
  const int32_t count = min(p.tile_tokens, p.tokens - first);
  const int64_t first_row = static_cast<int64_t>(first) * p.index_heads;
  const Bf16* q = static_cast<const Bf16*>(p.index_q) +
                  (static_cast<int64_t>(p.first_token) * p.index_heads + first_row +
                   lane_id() / 4) * (kChunks * kChunkDims);
  dense_kernels::cuda::wait_and_trigger();
  const Tokens tokens = read_tokens(p, first, count);
  uint4 low[kChunks], high[kChunks];
  load_query<kChunks>(q, token_of[0] < count, low);
  load_query<kChunks>(q + 8 * kChunks * kChunkDims, token_of[1] < count, high);
  // Behind the tile's tokens there is none that sees a key: count <= 16.
  Rows rows;
  rows.position[0] = __shfl_sync(kAllLanes, tokens.position, token_of[0]);
  rows.position[1] = __shfl_sync(kAllLanes, tokens.position, token_of[1]);
  rows.blocks = __shfl_sync(kAllLanes, tokens.blocks, token_of[2]);
  rows.token = token_of[2];
  rows.to = (first_row + lane_id() % kRows) * p.max_pages;
#pragma unroll 1
  for (int32_t begin = 0; begin < count;) {
    const int32_t sequence = __shfl_sync(kAllLanes, tokens.sequence, begin);
    const bool is_before = lane_id() < begin;
    const bool is_behind = lane_id() >= count || tokens.sequence != sequence;
    const int32_t end = __ffs(__ballot_sync(kAllLanes, !is_before && is_behind)) - 1;
    const bool is_in = lane_id() >= begin && lane_id() < end;
    const int32_t most = __reduce_max_sync(kAllLanes, is_in ? tokens.blocks : 0);
    const int32_t last = __reduce_max_sync(kAllLanes, is_in ? tokens.position : -1);
    score_run<kChunks>(s, p, begin, end, sequence, last, most, rows, low, high);
    begin = end;
  }
}

}  // namespace
}  // namespace attention_kernels::cuda

extern "C" __global__ void __launch_bounds__(128, 4)
    block_scores_bf16_mma(__grid_constant__ const BlockScoresParams p) {
  using namespace attention_kernels::cuda;
  __shared__ Shared<4> s;  // room for each of the three
  if (p.index_dim == 128) return block_scores<4>(s, p);
  if (p.index_dim == 64) return block_scores<2>(reinterpret_cast<Shared<2>&>(s), p);
  block_scores<1>(reinterpret_cast<Shared<1>&>(s), p);
}
