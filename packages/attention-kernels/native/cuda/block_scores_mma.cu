// Block scores on tensor cores: bf16, the largest score, index_dim 32, 64 or 128.
//
// A warp scores one block of the context for 16 rows, which are the index heads of up to tile_tokens
// tokens. Keys go from memory to registers, 16 bytes a lane: the four lanes of a key take 8 dims each
// of every 32, q is cut alike, so a dot product only sums in another order. That order, and so a
// score, is the same whatever else is in the tile.
//
// The tensor core cuts the low bits of its sums, so it only sums 16 products at a time; those are
// added in fp32 with rounding.
#include "attention_kernels/block_scores.h"
#include "dense_kernels/cuda/mma.cuh"
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/reduce.cuh"
#include "dense_kernels/cuda/vector.cuh"

#include "device/blocks.cuh"

namespace attention_kernels::cuda {
namespace {

using dense_kernels::cuda::Bf16;
using dense_kernels::cuda::lane_id;
using dense_kernels::cuda::load16;
using dense_kernels::cuda::Max;
using dense_kernels::cuda::mma_bf16;
using dense_kernels::cuda::warp_reduce;

constexpr int kChunkDims = 32;  // dims that one load of four lanes covers
constexpr int kKeys = 32;       // keys scored at once, in four groups of eight
constexpr int kGroups = kKeys / 8;

// One of the two rows of a tile whose scores a thread holds.
struct Row {
  int32_t token;     // in the launch; -1: no such row
  int32_t head;
  int32_t position;
  int32_t blocks;    // how many blocks need a score
};

__device__ __forceinline__ Row row_of(const BlockScoresParams& p, int32_t first, int32_t count,
                                      int32_t row) {
  const int32_t token = row / p.index_heads;
  if (token >= count) return {-1, 0, -1, 0};
  const int32_t position = p.positions[p.first_token + first + token];
  const int32_t candidates = candidate_blocks(position, p.page_tokens, p.max_pages);
  return {first + token, row % p.index_heads, position,
          candidates <= p.topk_blocks ? 0 : candidates};
}

// A row's dims 8 * (lane % 4) + [0, 8) of each chunk of 32; zeros for a row that is none.
template <int kChunks>
__device__ __forceinline__ void load_query(const BlockScoresParams& p, const Row& row,
                                           uint4 (&q)[kChunks]) {
  const int64_t token = static_cast<int64_t>(p.first_token) + row.token;
  const Bf16* from = static_cast<const Bf16*>(p.index_q) +
                     (token * p.index_heads + row.head) * p.index_dim + 8 * (lane_id() % 4);
#pragma unroll
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    q[chunk] = row.token < 0 ? uint4{} : load16(from + chunk * kChunkDims);
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

// Raises `largest` of the thread's two rows to the scores of the first `count` keys of a page whose
// first key is at position `start`. NaN counts as -inf: fmaxf gives the other argument.
template <int kChunks>
__device__ __forceinline__ void score_page(const BlockScoresParams& p, const Bf16* page,
                                           int64_t start, int32_t count, const Row (&row)[2],
                                           const uint4 (&low)[kChunks],
                                           const uint4 (&high)[kChunks], float (&largest)[2]) {
  const int32_t of_key = lane_id() / 4;
  for (int32_t first = 0; first < count; first += kKeys) {
    uint4 keys[kGroups][kChunks];
#pragma unroll
    for (int group = 0; group < kGroups; ++group) {
      // Behind the page its last key is read once more; its score is not taken.
      const int32_t key = min(first + group * 8 + of_key, p.page_tokens - 1);
      const Bf16* from = page + static_cast<int64_t>(key) * p.index_dim + 8 * (lane_id() % 4);
#pragma unroll
      for (int chunk = 0; chunk < kChunks; ++chunk) {
        keys[group][chunk] = load16(from + chunk * kChunkDims);
      }
    }
#pragma unroll
    for (int group = 0; group < kGroups; ++group) {
      float scores[4];
      dot_keys<kChunks>(scores, low, high, keys[group]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int32_t key = first + group * 8 + 2 * (lane_id() % 4) + i % 2;
        if (key < count && start + key <= row[i / 2].position) {
          largest[i / 2] = fmaxf(largest[i / 2], scores[i]);
        }
      }
    }
  }
}

// Tokens [begin, end) of the tile, which share a sequence: this warp's blocks of their context.
template <int kChunks>
__device__ __forceinline__ void score_run(const BlockScoresParams& p, int32_t begin, int32_t end,
                                          const Row (&row)[2], const uint4 (&low)[kChunks],
                                          const uint4 (&high)[kChunks]) {
  int32_t most = 0;
  int32_t last = -1;
  for (int32_t token = begin; token < end; ++token) {
    const int32_t position = p.positions[p.first_token + token];
    const int32_t candidates = candidate_blocks(position, p.page_tokens, p.max_pages);
    if (candidates > p.topk_blocks) most = max(most, candidates);
    last = max(last, position);
  }
  const int64_t sequence = p.sequence_ids[p.first_token + begin];
  const bool is_known = sequence >= 0 && sequence < p.sequences;
  for (int32_t block = first_block(); block < most;
       block += block_stride()) {
    const int64_t page = is_known ? p.page_table[sequence * p.max_pages + block] : -1;
    float largest[2] = {kMinusInfinity, kMinusInfinity};
    if (page >= 0 && page < p.pages) {
      const int64_t start = static_cast<int64_t>(block) * p.page_tokens;
      const int64_t visible = min(last + 1 - start, static_cast<int64_t>(p.page_tokens));
      score_page<kChunks>(
          p, static_cast<const Bf16*>(p.index_keys) + page * p.page_tokens * p.index_dim, start,
          static_cast<int32_t>(visible), row, low, high, largest);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float score = warp_reduce<Max, 4>(largest[i]);
      const bool is_wanted = row[i].token >= begin && row[i].token < end && block < row[i].blocks;
      if (is_wanted && lane_id() % 4 == 0) {
        const int64_t to = static_cast<int64_t>(row[i].token) * p.index_heads + row[i].head;
        p.scores[to * p.max_pages + block] = score;
      }
    }
  }
}

// Grid: x tile_tokens tokens of the launch, y a share of their blocks.
template <int kChunks>
__device__ __forceinline__ void block_scores(const BlockScoresParams& p) {
  const int32_t first = blockIdx.x * p.tile_tokens;
  const int32_t count = min(p.tile_tokens, p.tokens - first);
  const Row row[2] = {row_of(p, first, count, lane_id() / 4),
                      row_of(p, first, count, lane_id() / 4 + 8)};
  uint4 low[kChunks], high[kChunks];
  load_query<kChunks>(p, row[0], low);
  load_query<kChunks>(p, row[1], high);
  for (int32_t begin = first; begin < first + count;) {
    const int32_t sequence = p.sequence_ids[p.first_token + begin];
    int32_t end = begin + 1;
    while (end < first + count && p.sequence_ids[p.first_token + end] == sequence) ++end;
    score_run<kChunks>(p, begin, end, row, low, high);
    begin = end;
  }
}

}  // namespace
}  // namespace attention_kernels::cuda

extern "C" __global__ void __launch_bounds__(128, 3)
    block_scores_bf16_mma(__grid_constant__ const BlockScoresParams p) {
  dense_kernels::cuda::wait_and_trigger();
  using namespace attention_kernels::cuda;
  if (p.index_dim == 128) return block_scores<4>(p);
  if (p.index_dim == 64) return block_scores<2>(p);
  block_scores<1>(p);
}
