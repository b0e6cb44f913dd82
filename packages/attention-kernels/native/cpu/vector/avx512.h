// Sixteen fp32 lanes with AVX-512; the names are explained in vector/baseline.h.
#ifndef ATTENTION_KERNELS_VECTOR_H
#define ATTENTION_KERNELS_VECTOR_H

// The intrinsics of GCC 12 leave a variable unset on purpose and then warn of it (GCC bug 105593,
// fixed in 13): the pragma must stand before the header and go when 12 does.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#include <stdint.h>

#include "dense_kernels/bf16.h"

namespace attention_kernels {
namespace {

typedef __m512 Vec;

constexpr int kLanes = 16;
constexpr int kRowTile = 4;  // 4 rows x 4 columns of accumulators leave half of 32 registers

inline Vec splat(float value) { return _mm512_set1_ps(value); }
inline Vec load(const float* from) { return _mm512_loadu_ps(from); }
inline void store(float* to, Vec value) { _mm512_storeu_ps(to, value); }
inline Vec load_bf16(const uint16_t* from) {
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

inline Vec add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
inline Vec sub(Vec a, Vec b) { return _mm512_sub_ps(a, b); }
inline Vec mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
inline Vec larger(Vec a, Vec b) { return _mm512_max_ps(a, b); }
inline Vec zero_below(Vec x, Vec floor, Vec value) {
  return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, floor, _CMP_NLT_UQ), value);
}
inline Vec scale_by_power(Vec value, Vec n) { return _mm512_scalef_ps(value, n); }

inline __m256 lower_half(Vec a) { return _mm512_castps512_ps256(a); }
inline __m256 upper_half(Vec a) { return _mm512_extractf32x8_ps(a, 1); }

inline float sum_of_lanes(Vec a) {
  const __m256 half = _mm256_add_ps(lower_half(a), upper_half(a));
  const __m128 quarter = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
  const __m128 pair = _mm_add_ps(quarter, _mm_movehl_ps(quarter, quarter));
  return _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)));
}
inline float largest_lane(Vec a) {
  const __m256 half = _mm256_max_ps(lower_half(a), upper_half(a));
  const __m128 quarter = _mm_max_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
  const __m128 pair = _mm_max_ps(quarter, _mm_movehl_ps(quarter, quarter));
  return _mm_cvtss_f32(_mm_max_ss(pair, _mm_movehdup_ps(pair)));
}
inline void store_sums(float* to, Vec a, Vec b, Vec c, Vec d) {
  const Vec ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
  const Vec cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
  const Vec abcd = _mm512_add_ps(_mm512_shuffle_ps(ab, cd, 0x44), _mm512_shuffle_ps(ab, cd, 0xee));
  const __m256 half = _mm256_add_ps(lower_half(abcd), upper_half(abcd));
  _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
}

}  // namespace
}  // namespace attention_kernels

#endif
