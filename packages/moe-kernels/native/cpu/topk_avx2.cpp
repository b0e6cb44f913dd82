// Router top-k on the CPU: the steps over all experts of a token, compiled for AVX2.

#include <immintrin.h>

#include "body/topk_rank.h"
#include "body/topk_scores.h"
#include "body/topk_steps.h"

namespace {

constexpr int kRoundsKeys = 512;   // keys up to which rounds may be taken, a multiple of 32
constexpr int kRoundsWork = 1536;  // rounds * keys; beyond, the list looks at every key only once

// Eight ordered_bits() as signed numbers, that is, with the uppermost bit flipped.
LANES_INLINE __m256i signed_order(__m256 keys, __m256i nan_order) {
  const __m256 is_nan = _mm256_cmp_ps(keys, keys, _CMP_UNORD_Q);
  const __m256i bits = _mm256_castps_si256(_mm256_add_ps(keys, _mm256_setzero_ps()));  // -0 to +0
  const __m256i magnitude = _mm256_srli_epi32(_mm256_srai_epi32(bits, 31), 1);
  return _mm256_blendv_epi8(_mm256_xor_si256(bits, magnitude), nan_order,
                            _mm256_castps_si256(is_nan));
}

LANES_INLINE int32_t largest_of(__m256i x) {
  const __m128i four = _mm_max_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  const __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4E));
  return _mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0xB1)));
}

// The lowest index that holds `value`; one does.
LANES_INLINE int first_equal(const int32_t* orders, int32_t value) {
  const __m256i wanted = _mm256_set1_epi32(value);
  for (int e = 0;; e += 32) {
    uint32_t equal = 0;
    for (int i = 0; i < 4; ++i) {
      const __m256i eight = _mm256_load_si256((const __m256i*)(orders + e + i * 8));
      const __m256i same = _mm256_cmpeq_epi32(eight, wanted);
      equal |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(same)) << (i * 8);
    }
    if (equal != 0) return e + __builtin_ctz(equal);
  }
}

// Few keys: k times the largest, without a branch that depends on them. The first of equals is
// taken; a taken key is set below all others, NaN included.
void choose_in_rounds(const float* keys, int count, int k, bool nan_first, uint64_t* best) {
  constexpr int32_t kTaken = INT32_MIN;
  const __m256i nan_order = _mm256_set1_epi32(nan_first ? INT32_MAX : kTaken + 1);
  alignas(32) int32_t orders[kRoundsKeys];
  const int padded = (count + 31) / 32 * 32;
  for (int e = 0; e < padded; e += 8) {
    float some[8] = {};
    for (int lane = 0; e + 8 > count && e + lane < count; ++lane) some[lane] = keys[e + lane];
    const __m256 eight = _mm256_loadu_ps(e + 8 > count ? some : keys + e);
    _mm256_store_si256((__m256i*)(orders + e), signed_order(eight, nan_order));
  }
  for (int e = count; e < padded; ++e) orders[e] = kTaken;
  for (int j = 0; j < k; ++j) {
    __m256i most[4];
    for (int i = 0; i < 4; ++i) most[i] = _mm256_load_si256((const __m256i*)(orders + i * 8));
    for (int e = 32; e < padded; e += 32) {
      for (int i = 0; i < 4; ++i) {
        const __m256i next = _mm256_load_si256((const __m256i*)(orders + e + i * 8));
        most[i] = _mm256_max_epi32(most[i], next);
      }
    }
    const int32_t top = largest_of(_mm256_max_epi32(_mm256_max_epi32(most[0], most[1]),
                                                    _mm256_max_epi32(most[2], most[3])));
    const int id = first_equal(orders, top);
    orders[id] = kTaken;
    best[j] = 0xFFFFFFFFu - (uint32_t)id;  // the caller reads the id only
  }
}

LANES_INLINE __m256i threshold(const uint64_t* best, int k) {
  return _mm256_set1_epi32((int32_t)((uint32_t)(best[k - 1] >> 32) ^ 0x80000000u));
}

// Many keys: eight are compared with the worst of the list at once; only those above it are
// inserted. Ids ascend, so a key that equals the worst loses to it, as it should.
void choose_by_list(const float* keys, int count, int k, bool nan_first, uint64_t* best) {
  const __m256i nan_order = _mm256_set1_epi32(nan_first ? INT32_MAX : INT32_MIN);
  int e = 0;
  for (; e < k; ++e) insert_rank(best, k, rank_of(keys[e], e, nan_first));
  __m256i worst = threshold(best, k);
  for (; e + 8 <= count; e += 8) {
    const __m256i order = signed_order(_mm256_loadu_ps(keys + e), nan_order);
    const __m256i greater = _mm256_cmpgt_epi32(order, worst);
    uint32_t above = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(greater));
    if (above == 0) continue;
    for (; above != 0; above &= above - 1) {
      const int id = e + __builtin_ctz(above);
      insert_rank(best, k, rank_of(keys[id], id, nan_first));
    }
    worst = threshold(best, k);
  }
  for (; e < count; ++e) insert_rank(best, k, rank_of(keys[e], e, nan_first));
}

}  // namespace

void topk_sigmoid_avx2(const float* logits, float* scores, int count) {
  score_sigmoid(logits, scores, count);
}

void topk_softmax_avx2(const float* logits, float* scores, int count) {
  score_softmax(logits, scores, count);
}

void topk_choose_avx2(const float* keys, int count, int k, bool nan_first, uint64_t* best) {
  if (count <= kRoundsKeys && k * count <= kRoundsWork) {
    choose_in_rounds(keys, count, k, nan_first, best);
  } else {
    choose_by_list(keys, count, k, nan_first, best);
  }
}
