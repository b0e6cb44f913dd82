// Groups (token, slot) pairs by expert, the body that every instruction set shares: a stable
// counting sort.
//
// Inside an expert the order is ascending token * k + slot, so equal input gives equal layout, and
// neighbours in memory stay neighbours. Pairs without a local expert are sorted behind all others,
// into bins of their own, so that neither pass over the pairs has a branch that depends on an id.
// Runs on one thread: the experts' weights take far longer to arrive from memory.
#ifndef MOE_KERNELS_CPU_BODY_PERMUTE_H
#define MOE_KERNELS_CPU_BODY_PERMUTE_H

#include <stdint.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "cuda_runtime/abi.h"
#include "moe_kernels/permute.h"

namespace {

constexpr int kMaxExperts = 4097;  // as many as top-k can name: 4096 routed and one shared
constexpr int kStep = 8;           // numbers that AVX2 takes at once

// Bins behind the experts', taken in turn: a count must not wait for the one before it.
constexpr int kOtherBins = 8;
constexpr int kMaxBins = kMaxExperts + kOtherBins;

// The bin of each pair: its local expert, or one behind them for ids of other ranks, -1 and garbage
// alike. The comparison with the offset keeps any id from wrapping into the local range.
inline void find_bins(const PermuteParams* p, int32_t* bins, int64_t pairs) {
  const int32_t* ids = (const int32_t*)p->ids;
  const int32_t offset = p->expert_offset;
  const uint32_t experts = (uint32_t)p->experts;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const uint32_t expert = (uint32_t)ids[pair] - (uint32_t)offset;
    const uint32_t other = experts + (uint32_t)pair % kOtherBins;
    bins[pair] = (int32_t)(ids[pair] >= offset && expert < experts ? expert : other);
  }
}

// Each count becomes the sum of those before it.
inline void sum_before(int32_t* counts, int32_t bins) {
  int32_t total = 0;
  int32_t bin = 0;
#if defined(__AVX2__)
  const __m256i upper_half = _mm256_setr_epi32(0, 0, 0, 0, -1, -1, -1, -1);
  const __m256i third = _mm256_set1_epi32(3);
  const __m256i last = _mm256_set1_epi32(kStep - 1);
  __m256i before = _mm256_setzero_si256();
  for (; bin + kStep <= bins; bin += kStep) {
    const __m256i count = _mm256_loadu_si256((const __m256i*)(counts + bin));
    __m256i sum = _mm256_add_epi32(count, _mm256_slli_si256(count, 4));  // within 128 bits
    sum = _mm256_add_epi32(sum, _mm256_slli_si256(sum, 8));
    const __m256i low_sum = _mm256_permutevar8x32_epi32(sum, third);
    sum = _mm256_add_epi32(sum, _mm256_and_si256(low_sum, upper_half));
    const __m256i start = _mm256_add_epi32(before, _mm256_sub_epi32(sum, count));
    _mm256_storeu_si256((__m256i*)(counts + bin), start);
    before = _mm256_add_epi32(before, _mm256_permutevar8x32_epi32(sum, last));
  }
  total = _mm256_cvtsi256_si32(before);
#endif
  for (; bin < bins; ++bin) {
    const int32_t count = counts[bin];
    counts[bin] = total;
    total += count;
  }
}

// Takes the pairs without a local expert out of both directions of the map.
inline void drop_others(int32_t* rows, int32_t* slots, int32_t total, int64_t pairs) {
  for (int64_t pair = 0; pair < pairs; ++pair) {
    slots[pair] = slots[pair] < total ? slots[pair] : -1;
  }
  for (int64_t row = total; row < pairs; ++row) rows[row] = -1;
}

// The first expert from `e` on that has rows; p->experts if none.
inline int32_t next_with_rows(const PermuteParams* p, const int32_t* offsets, int32_t e) {
#if defined(__AVX2__)
  for (; e + kStep <= p->experts; e += kStep) {
    const __m256i first = _mm256_loadu_si256((const __m256i*)(offsets + e));
    const __m256i end = _mm256_loadu_si256((const __m256i*)(offsets + e + 1));
    const __m256i empty = _mm256_cmpeq_epi32(first, end);
    const int used = ~_mm256_movemask_ps(_mm256_castsi256_ps(empty)) & 0xFF;
    if (used != 0) return e + __builtin_ctz(used);
  }
#endif
  while (e < p->experts && offsets[e] == offsets[e + 1]) ++e;
  return e;
}

// Cuts each expert's rows into tiles of at most tile_rows, experts in ascending order.
inline void list_tiles(const PermuteParams* p, const int32_t* offsets) {
  int32_t* tiles = (int32_t*)p->tiles;
  int32_t count = 0;
  for (int32_t e = next_with_rows(p, offsets, 0); e < p->experts;
       e = next_with_rows(p, offsets, e + 1)) {
    for (int32_t row = offsets[e]; row < offsets[e + 1] && count < p->max_tiles; ++count) {
      const int32_t left = offsets[e + 1] - row;
      const int32_t rows = left < p->tile_rows ? left : p->tile_rows;
      tiles[count * 3] = e;
      tiles[count * 3 + 1] = row;
      tiles[count * 3 + 2] = rows;
      row += rows;
    }
  }
  *(int32_t*)p->tile_count = count;
  for (int32_t t = count; t < p->max_tiles; ++t) {
    tiles[t * 3] = -1;
    tiles[t * 3 + 1] = 0;
    tiles[t * 3 + 2] = 0;
  }
}

inline void sort_pairs(void* argument, int64_t, int64_t) {
  const PermuteParams* p = (const PermuteParams*)argument;
  const int64_t pairs = (int64_t)p->tokens * p->k;
  int32_t* offsets = (int32_t*)p->offsets;
  int32_t* rows = (int32_t*)p->rows;
  int32_t* slots = (int32_t*)p->slots;
  const int32_t bins = p->experts + kOtherBins;
  // 1. rows of each expert; slots hold the bins until their rows are known
  int32_t next[kMaxBins];
  __builtin_memset(next, 0, sizeof(int32_t) * (uint64_t)bins);
  find_bins(p, slots, pairs);
  for (int64_t pair = 0; pair < pairs; ++pair) ++next[slots[pair]];
  // 2. where each expert starts; the first of the other bins starts behind the last
  sum_before(next, bins);
  __builtin_memcpy(offsets, next, sizeof(int32_t) * ((uint64_t)p->experts + 1));
  const int32_t total = offsets[p->experts];
  // 3. both directions of the map
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const int32_t row = next[slots[pair]]++;
    rows[row] = (int32_t)pair;
    slots[pair] = row;
  }
  if (total < pairs) drop_others(rows, slots, total, pairs);
  // 4. work list of a tiled kernel
  if (p->tiles != nullptr) list_tiles(p, offsets);
}

}  // namespace

#endif
