// Choice of blocks on the CPU, AVX2: a value that `wanted` scores reach, then the ids that do.
//
// Nothing is sorted: a cut between the scores is found by bisection, counting 64 scores at a time,
// and the ids above it come out in ascending order by themselves. Few are wanted of a long row: the
// maxima of 64 interleaved parts give a value that at least `wanted` scores reach and few others
// do; only those are kept and cut. Reads the row twice, 4 B a score.
#include <immintrin.h>
#include <string.h>

#include "best_blocks.h"
#include "vector/tile_limits.h"

namespace attention_kernels {
namespace {

constexpr int kGroup = 32;       // scores behind one mask
constexpr int kKept = 64;        // scores that stay in registers while they are cut
constexpr int kMostWanted = 32;  // of kKept: when they are full, at least a group is free again

inline __m256 splat(float value) { return _mm256_set1_ps(value); }

// Eight scores, NaN as -inf: the maximum gives its second argument then.
inline __m256 load(const float* scores) {
  return _mm256_max_ps(_mm256_loadu_ps(scores), splat(kMinusInfinity));
}

// Bit i: scores[i] >= least.
inline uint32_t at_least(const float* scores, __m256 least) {
  __m256i is[4];
  for (int i = 0; i < 4; ++i) {
    is[i] = _mm256_castps_si256(_mm256_cmp_ps(load(scores + i * 8), least, _CMP_GE_OQ));
  }
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(is[0], is[1]),
                                           _mm256_packs_epi32(is[2], is[3]));
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);  // packs go by 128-bit halves
  return (uint32_t)_mm256_movemask_epi8(_mm256_permutevar8x32_epi32(bytes, order));
}

inline uint64_t kept_at_least(const float* kept, float least) {
  const uint64_t high = at_least(kept + kGroup, splat(least));
  return high << kGroup | at_least(kept, splat(least));
}

// Floats in their order as integers; -0 is next below +0.
inline int32_t order_of(float value) {
  int32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits ^ (int32_t)((uint32_t)(bits >> 31) >> 1);
}

inline float value_of(int32_t order) {
  const int32_t bits = order ^ (int32_t)((uint32_t)(order >> 31) >> 1);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// At least `wanted` scores reach low, and fewer reach high, or exactly `wanted` reach both. High
// lies next above low, unless both are the same.
struct Cut {
  float low, high;
};

// Bisects the values: the first steps halve the distance, which suits scores of one magnitude; the
// others halve the number of floats between, so that at most 32 more are needed.
template <class Count>
inline Cut find_cut(int32_t wanted, float least, float most, Count count) {
  constexpr int kDistanceSteps = 8;
  int32_t low = order_of(least);
  int32_t high = order_of(most + 0.0f) + 1;
  for (int step = 0; (uint32_t)high - (uint32_t)low > 1; ++step) {
    int32_t middle = (int32_t)((uint32_t)low + ((uint32_t)high - (uint32_t)low) / 2);
    if (step < kDistanceSteps) {
      const int32_t half = order_of(0.5f * value_of(low) + 0.5f * value_of(high));
      if (half > low && half < high) middle = half;
    }
    const int32_t reached = count(value_of(middle));
    if (reached == wanted) return {value_of(middle), value_of(middle)};
    low = reached > wanted ? middle : low;
    high = reached > wanted ? high : middle;
  }
  return {value_of(low), value_of(high)};
}

inline float largest_of(__m256 x) {
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

inline float largest_kept(const float* kept) {
  __m256 most = load(kept);
  for (int i = 8; i < kKept; i += 8) most = _mm256_max_ps(most, load(kept + i));
  return largest_of(most);
}

inline Cut cut_kept(const float* kept, int32_t wanted, float least) {
  return find_cut(wanted, least, largest_kept(kept), [kept](float value) {
    return (int32_t)__builtin_popcountll(kept_at_least(kept, value));
  });
}

// Those above the cut, and of its equals the first ones.
inline uint64_t chosen_of(const float* kept, int32_t wanted, Cut cut) {
  uint64_t chosen = kept_at_least(kept, cut.high);
  uint64_t equals = kept_at_least(kept, cut.low) & ~chosen;
  for (int32_t left = wanted - __builtin_popcountll(chosen); left > 0; --left) {
    chosen |= equals & -equals;
    equals &= equals - 1;
  }
  return chosen;
}

// Candidates in ascending order; -inf behind them.
struct Kept {
  alignas(32) float scores[kKept];
  int32_t blocks[kKept];
  int32_t count;
  float low;    // all kept reach it
  float least;  // what the next one must reach
};

inline void clear(float* scores) {
  for (int i = 0; i < kKept; i += 8) _mm256_store_ps(scores + i, splat(kMinusInfinity));
}

// Drops all but the chosen. A later score that only equals them loses the tie.
inline void drop_others(Kept& kept, int32_t wanted) {
  const Cut cut = cut_kept(kept.scores, wanted, kept.low);
  uint64_t chosen = chosen_of(kept.scores, wanted, cut);
  for (int32_t i = 0; i < wanted; ++i, chosen &= chosen - 1) {
    const int from = __builtin_ctzll(chosen);
    kept.scores[i] = kept.scores[from];
    kept.blocks[i] = kept.blocks[from];
  }
  for (int32_t i = wanted; i < kKept; ++i) kept.scores[i] = kMinusInfinity;
  kept.count = wanted;
  kept.low = cut.low;
  kept.least = cut.high;
}

// A value that at least `wanted` scores reach: every part's maximum is one of them.
inline float reachable(const float* scores, int32_t count, int32_t wanted) {
  alignas(32) float most[kKept];
  __m256 parts[kKept / 8];
  for (int i = 0; i < kKept / 8; ++i) parts[i] = load(scores + i * 8);
  for (int32_t b = kKept; b + kKept <= count; b += kKept) {
    for (int i = 0; i < kKept / 8; ++i) {
      // A NaN in the first argument leaves the second.
      parts[i] = _mm256_max_ps(_mm256_loadu_ps(scores + b + i * 8), parts[i]);
    }
  }
  for (int i = 0; i < kKept / 8; ++i) _mm256_store_ps(most + i * 8, parts[i]);
  return cut_kept(most, wanted, kMinusInfinity).low;
}

inline void keep(Kept& kept, const float* group, int32_t first, int32_t wanted) {
  uint32_t reached = at_least(group, splat(kept.least));
  if (reached == 0) return;
  if (kept.count > kKept - kGroup) {
    drop_others(kept, wanted);
    reached = at_least(group, splat(kept.least));
  }
  for (; reached != 0; reached &= reached - 1) {
    const int i = __builtin_ctz(reached);
    kept.scores[kept.count] = group[i];
    kept.blocks[kept.count++] = first + i;
  }
}

// The end of a row as a whole group, filled up with -inf; those come last and so lose every tie.
inline void copy_end(float* group, const float* scores, int32_t count) {
  for (int i = 0; i < kGroup; i += 8) _mm256_store_ps(group + i, splat(kMinusInfinity));
  memcpy(group, scores, (size_t)count * sizeof(float));
}

void few_of_many(const float* scores, int32_t count, int32_t wanted, int32_t first,
                 int32_t* blocks) {
  Kept kept;
  clear(kept.scores);
  kept.count = 0;
  kept.low = kept.least = reachable(scores, count, wanted);
  int32_t b = 0;
  for (; b + kGroup <= count; b += kGroup) keep(kept, scores + b, first + b, wanted);
  if (b < count) {
    alignas(32) float end[kGroup];
    copy_end(end, scores + b, count - b);
    keep(kept, end, first + b, wanted);
  }
  const Cut cut = cut_kept(kept.scores, wanted, kept.low);
  uint64_t chosen = chosen_of(kept.scores, wanted, cut);
  for (int32_t i = 0; i < wanted; ++i, chosen &= chosen - 1) {
    blocks[i] = kept.blocks[__builtin_ctzll(chosen)];
  }
}

void some_of_few(const float* scores, int32_t count, int32_t wanted, int32_t first,
                 int32_t* blocks) {
  alignas(32) float kept[kKept];
  clear(kept);
  memcpy(kept, scores, (size_t)count * sizeof(float));
  uint64_t chosen = chosen_of(kept, wanted, cut_kept(kept, wanted, kMinusInfinity));
  for (int32_t i = 0; i < wanted; ++i, chosen &= chosen - 1) {
    blocks[i] = first + __builtin_ctzll(chosen);
  }
}

// A row in whole groups, the last of them a copy.
struct Groups {
  const float* scores;
  int32_t whole;  // scores in groups of their own
  bool has_end;
  alignas(32) float end[kGroup];
};

inline int32_t count_at_least(const Groups& row, float least) {
  const __m256 bound = splat(least);
  int32_t reached = row.has_end ? __builtin_popcount(at_least(row.end, bound)) : 0;
  for (int32_t b = 0; b < row.whole; b += kGroup) {
    reached += __builtin_popcount(at_least(row.scores + b, bound));
  }
  return reached;
}

// Many wanted: the same cut over the whole row.
void many_of_many(const float* scores, int32_t count, int32_t wanted, int32_t first,
                  int32_t* blocks) {
  Groups row = {scores, count / kGroup * kGroup, count % kGroup != 0, {}};
  if (row.has_end) copy_end(row.end, scores + row.whole, count - row.whole);
  const Cut cut = find_cut(wanted, kMinusInfinity, -kMinusInfinity,
                           [&row](float value) { return count_at_least(row, value); });
  int32_t equals = wanted - count_at_least(row, cut.high);
  const int32_t* end = blocks + wanted;
  for (int32_t b = 0; blocks < end; b += kGroup) {
    const float* group = b < row.whole ? scores + b : row.end;
    const uint32_t above = at_least(group, splat(cut.high));
    uint32_t reached = at_least(group, splat(cut.low));
    for (; reached != 0 && blocks < end; reached &= reached - 1) {
      const int i = __builtin_ctz(reached);
      if ((above >> i & 1) == 0 && equals-- <= 0) continue;
      *blocks++ = first + b + i;
    }
  }
}

}  // namespace

void best_blocks_avx2(const float* scores, int32_t count, int32_t wanted, int32_t first,
                      int32_t* blocks) {
  if (count <= kKept) {
    some_of_few(scores, count, wanted, first, blocks);
  } else if (wanted <= kMostWanted) {
    few_of_many(scores, count, wanted, first, blocks);
  } else {
    many_of_many(scores, count, wanted, first, blocks);
  }
}

}  // namespace attention_kernels
