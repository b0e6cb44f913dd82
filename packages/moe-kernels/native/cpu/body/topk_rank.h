// Ranks: a key and the lower-id-wins rule folded into one 64-bit integer (order-preserving bits of
// the key above, complement of the id below), so that selection is a plain integer maximum and
// never emits an id twice.
#ifndef MOE_KERNELS_CPU_BODY_TOPK_RANK_H
#define MOE_KERNELS_CPU_BODY_TOPK_RANK_H

#include <stdint.h>

#include "dense_kernels/bf16.h"

// Bits whose unsigned order is the order of the floats. -0 and +0 tie. A NaN sorts below -inf, or
// above +inf when `nan_first`.
static inline uint32_t ordered_bits(float key, bool nan_first) {
  if (__builtin_isnan(key)) return nan_first ? 0xFFFFFFFFu : 0u;
  const uint32_t bits = f32_to_bits(key + 0.0f);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static inline uint64_t rank_of(float key, int id, bool nan_first) {
  return (uint64_t)ordered_bits(key, nan_first) << 32 | (0xFFFFFFFFu - (uint32_t)id);
}

// Keeps the `count` largest ranks in descending order.
static inline void insert_rank(uint64_t* best, int count, uint64_t rank) {
  if (rank <= best[count - 1]) return;
  int place = count - 1;
  for (; place > 0 && best[place - 1] < rank; --place) best[place] = best[place - 1];
  best[place] = rank;
}

#endif
