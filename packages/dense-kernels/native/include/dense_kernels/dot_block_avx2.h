/* dot_block for AVX2 + FMA + F16C; see dot_block.h. Only for files compiled with those flags.
 *
 * E4M3 becomes fp16 by moving its seven low bits into place, which divides it by 2^8 (the two
 * exponent biases differ by 8), subnormals included; F16C widens that at full speed. The 2^8 is
 * given back once, on the finished sum, so that every E8M0 scale stays in range.
 */
#ifndef DENSE_KERNELS_DOT_BLOCK_AVX2_H
#define DENSE_KERNELS_DOT_BLOCK_AVX2_H

#include <immintrin.h>

#include "dense_kernels/dot_block.h"

namespace {

/* Fixed order of addition: halves, then quarters, then neighbours. */
inline float sum_lanes_avx2(__m256 v) {
  __m128 sum = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
  sum = _mm_add_ss(sum, _mm_movehdup_ps(sum));
  return _mm_cvtss_f32(sum);
}

struct Avx2F32 {
  static constexpr int32_t kBytes = 4;
  static __m256 load(const void* p) { return _mm256_loadu_ps(static_cast<const float*>(p)); }
};

struct Avx2Bf16 {
  static constexpr int32_t kBytes = 2;
  static __m256 load(const void* p) {
    const __m128i bits = _mm_loadu_si128(static_cast<const __m128i*>(p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
  }
};

/* The last n < 8 elements, zeros behind them. */
template <typename Kind>
inline __m256 load_tail_avx2(const void* p, int32_t n) {
  alignas(32) char padded[32] = {};
  memcpy(padded, p, static_cast<size_t>(n * Kind::kBytes));
  return Kind::load(padded);
}

/* f32 and bf16 weights. */
template <typename Weight, typename X>
struct PlainTileAvx2 {
  template <int kRows, int kTokens>
  static inline void run(const DotBlock* b, int32_t row, int32_t token) {
    __m256 sums[kRows][kTokens];
    const char* w[kRows];
    const char* x[kTokens];
    for (int r = 0; r < kRows; ++r) {
      w[r] = static_cast<const char*>(b->weights) + (row + r) * b->weight_stride;
      for (int t = 0; t < kTokens; ++t) sums[r][t] = _mm256_setzero_ps();
    }
    for (int t = 0; t < kTokens; ++t) x[t] = static_cast<const char*>(b->x[token + t]);

    int64_t k = 0;
    for (; k + 8 <= b->in; k += 8) {
      __m256 xs[kTokens];
#pragma GCC unroll 8
      for (int t = 0; t < kTokens; ++t) xs[t] = X::load(x[t] + k * X::kBytes);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const __m256 ws = Weight::load(w[r] + k * Weight::kBytes);
#pragma GCC unroll 8
        for (int t = 0; t < kTokens; ++t) sums[r][t] = _mm256_fmadd_ps(ws, xs[t], sums[r][t]);
      }
    }
    const int32_t rest = b->in - static_cast<int32_t>(k);
    for (int r = 0; r < kRows; ++r) {
      for (int t = 0; t < kTokens; ++t) {
        if (rest > 0) {
          sums[r][t] =
              _mm256_fmadd_ps(load_tail_avx2<Weight>(w[r] + k * Weight::kBytes, rest),
                              load_tail_avx2<X>(x[t] + k * X::kBytes, rest), sums[r][t]);
        }
        b->y[(row + r) * b->y_row + (token + t) * b->y_token] = sum_lanes_avx2(sums[r][t]);
      }
    }
  }
};

/* Sixteen E4M3 codes as fp16 of value / 2^8; the NaN codes become NaN. */
inline __m256i e4m3_to_f16_avx2(__m128i codes) {
  const __m256i wide = _mm256_slli_epi16(_mm256_cvtepi8_epi16(codes), 7);
  const __m256i nan_magnitude = _mm256_set1_epi16(0x3f80);
  const __m256i is_nan =
      _mm256_cmpeq_epi16(_mm256_and_si256(wide, nan_magnitude), nan_magnitude);
  return _mm256_or_si256(_mm256_and_si256(wide, _mm256_set1_epi16(static_cast<short>(0xbf80))),
                         is_nan);
}

template <typename X>
struct Mxfp8TileAvx2 {
  template <int kRows, int kTokens>
  static inline void run(const DotBlock* b, int32_t row, int32_t token) {
    __m256 sums[kRows][kTokens];
    const uint8_t* w[kRows];
    const uint8_t* scales[kRows];
    const char* x[kTokens];
    for (int r = 0; r < kRows; ++r) {
      w[r] = static_cast<const uint8_t*>(b->weights) + (row + r) * b->weight_stride;
      scales[r] = b->scales + (row + r) * b->scale_stride;
      for (int t = 0; t < kTokens; ++t) sums[r][t] = _mm256_setzero_ps();
    }
    for (int t = 0; t < kTokens; ++t) x[t] = static_cast<const char*>(b->x[token + t]);

    for (int64_t k = 0; k < b->in; k += MXFP8_BLOCK) {
      __m256 scale[kRows];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        scale[r] = _mm256_set1_ps(e8m0_to_f32(scales[r][k / MXFP8_BLOCK]));
      }
      for (int64_t half = k; half < k + MXFP8_BLOCK; half += 16) {
        __m256 xs[kTokens][2];
#pragma GCC unroll 8
        for (int t = 0; t < kTokens; ++t) {
          xs[t][0] = X::load(x[t] + half * X::kBytes);
          xs[t][1] = X::load(x[t] + (half + 8) * X::kBytes);
        }
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          const __m256i f16 =
              e4m3_to_f16_avx2(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w[r] + half)));
          const __m256 low = _mm256_cvtph_ps(_mm256_castsi256_si128(f16));
          const __m256 high = _mm256_cvtph_ps(_mm256_extracti128_si256(f16, 1));
          const __m256 w0 = _mm256_mul_ps(low, scale[r]);
          const __m256 w1 = _mm256_mul_ps(high, scale[r]);
#pragma GCC unroll 8
          for (int t = 0; t < kTokens; ++t) {
            sums[r][t] = _mm256_fmadd_ps(w0, xs[t][0], sums[r][t]);
            sums[r][t] = _mm256_fmadd_ps(w1, xs[t][1], sums[r][t]);
          }
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int t = 0; t < kTokens; ++t) {
        b->y[(row + r) * b->y_row + (token + t) * b->y_token] =
            sum_lanes_avx2(sums[r][t]) * 256.0f;
      }
    }
  }
};

}  // namespace

static inline void dot_block_f32_f32_avx2(const DotBlock* b) {
  for_each_tile<PlainTileAvx2<Avx2F32, Avx2F32>, 2>(b);
}
static inline void dot_block_f32_bf16_avx2(const DotBlock* b) {
  for_each_tile<PlainTileAvx2<Avx2F32, Avx2Bf16>, 2>(b);
}
static inline void dot_block_bf16_f32_avx2(const DotBlock* b) {
  for_each_tile<PlainTileAvx2<Avx2Bf16, Avx2F32>, 2>(b);
}
static inline void dot_block_bf16_bf16_avx2(const DotBlock* b) {
  for_each_tile<PlainTileAvx2<Avx2Bf16, Avx2Bf16>, 2>(b);
}
static inline void dot_block_mxfp8_f32_avx2(const DotBlock* b) {
  for_each_tile<Mxfp8TileAvx2<Avx2F32>, 2>(b);
}
static inline void dot_block_mxfp8_bf16_avx2(const DotBlock* b) {
  for_each_tile<Mxfp8TileAvx2<Avx2Bf16>, 2>(b);
}

#endif
