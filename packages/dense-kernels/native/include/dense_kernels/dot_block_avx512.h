/* dot_block for AVX-512 F, BW, VL, DQ, VBMI and BF16; see dot_block.h. Only for files compiled with
 * those flags.
 *
 * E4M3 becomes bf16 through two 128-entry byte tables (vpermi2b), one for each byte of the bf16:
 * exact, and subnormals come out normalised, which vdpbf16ps needs.
 */
#ifndef DENSE_KERNELS_DOT_BLOCK_AVX512_H
#define DENSE_KERNELS_DOT_BLOCK_AVX512_H

/* GCC 12 and 13 call the undefined operands of their own AVX-512 intrinsics uninitialised (GCC bug
 * 105593). To be removed when those compilers are no longer supported. */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>

#include "dense_kernels/dot_block.h"

namespace {

/* High and low byte of the bf16 of every non-negative E4M3 code. */
struct E4m3Bf16Bytes {
  alignas(64) uint8_t high[128] = {};
  alignas(64) uint8_t low[128] = {};
  constexpr E4m3Bf16Bytes() {
    for (uint32_t code = 1; code < 128; ++code) {
      uint32_t bits = (code << 4) + (120u << 7); /* normal: exponent bias 127 instead of 7 */
      if (code < 8) {                            /* code * 2^-9 */
        const uint32_t exponent = code >= 4 ? 2 : code >= 2 ? 1 : 0;
        bits = ((118u + exponent) << 7) | ((code << (7 - exponent)) & 0x7fu);
      }
      if (code == 127) bits = 0x7fc0u;
      high[code] = static_cast<uint8_t>(bits >> 8);
      low[code] = static_cast<uint8_t>(bits);
    }
  }
};
constexpr E4m3Bf16Bytes kE4m3Bf16Bytes{};

struct E4m3TablesAvx512 {
  __m512i high0, high1, low0, low1;
};

inline E4m3TablesAvx512 load_e4m3_tables_avx512() {
  return {_mm512_load_si512(kE4m3Bf16Bytes.high), _mm512_load_si512(kE4m3Bf16Bytes.high + 64),
          _mm512_load_si512(kE4m3Bf16Bytes.low), _mm512_load_si512(kE4m3Bf16Bytes.low + 64)};
}

/* The two bytes of 64 bf16, apart: `high` with the sign, `low`. */
struct SplitBf16 {
  __m512i high, low;
};

inline SplitBf16 e4m3_to_split_bf16(__m512i codes, const E4m3TablesAvx512& tables) {
  const __m512i high = _mm512_permutex2var_epi8(tables.high0, codes, tables.high1);
  const __m512i low = _mm512_permutex2var_epi8(tables.low0, codes, tables.low1);
  /* high | (codes & 0x80) */
  return {_mm512_ternarylogic_epi32(high, codes, _mm512_set1_epi8(static_cast<char>(0x80)), 0xf8),
          low};
}

/* Sixteen E8M0 scales (fewer with a mask: zeros) as fp32; byte 0 is 2^-127, byte 255 NaN. */
inline __m512 e8m0_to_f32_avx512(const uint8_t* scales, __mmask16 mask) {
  const __m512i wide = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, scales));
  const __m512i exponent = _mm512_slli_epi32(wide, 23);
  const __mmask16 zero = _mm512_testn_epi32_mask(wide, wide);
  const __mmask16 nan = _mm512_cmpeq_epi32_mask(wide, _mm512_set1_epi32(255));
  const __m512i low = _mm512_mask_mov_epi32(exponent, zero, _mm512_set1_epi32(0x00400000));
  return _mm512_castsi512_ps(_mm512_mask_mov_epi32(low, nan, _mm512_set1_epi32(0x7fc00000)));
}

inline __mmask16 first_lanes16(int64_t n) {
  return static_cast<__mmask16>(n >= 16 ? 0xffffu : (1u << n) - 1u);
}
inline __mmask32 first_lanes32(int64_t n) { return n >= 32 ? 0xffffffffu : (1u << n) - 1u; }

struct Avx512F32 {
  static constexpr int32_t kBytes = 4;
  static __m512 load(const void* p) { return _mm512_loadu_ps(p); }
  static __m512 load_first(const void* p, __mmask16 mask) {
    return _mm512_maskz_loadu_ps(mask, p);
  }
};

struct Avx512Bf16 {
  static constexpr int32_t kBytes = 2;
  static __m512 widen(__m256i bits) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  }
  static __m512 load(const void* p) {
    return widen(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
  }
  static __m512 load_first(const void* p, __mmask16 mask) {
    return widen(_mm256_maskz_loadu_epi16(mask, p));
  }
};

/* Row pointers and running sums of a tile, and the way out. */
template <int kRows, int kTokens>
struct TileAvx512 {
  __m512 sums[kRows][kTokens];
  const uint8_t* w[kRows];
  const uint8_t* scales[kRows];
  const char* x[kTokens];

  inline void begin(const DotBlock* b, int32_t row, int32_t token) {
    for (int r = 0; r < kRows; ++r) {
      w[r] = static_cast<const uint8_t*>(b->weights) + (row + r) * b->weight_stride;
      scales[r] = b->scales + (row + r) * b->scale_stride;
      for (int t = 0; t < kTokens; ++t) sums[r][t] = _mm512_setzero_ps();
    }
    for (int t = 0; t < kTokens; ++t) x[t] = static_cast<const char*>(b->x[token + t]);
  }

  inline void finish(const DotBlock* b, int32_t row, int32_t token) const {
    for (int r = 0; r < kRows; ++r) {
      for (int t = 0; t < kTokens; ++t) {
        b->y[(row + r) * b->y_row + (token + t) * b->y_token] =
            _mm512_reduce_add_ps(sums[r][t]);
      }
    }
  }
};

/* fp32 arithmetic: every pair of f32 and bf16 except bf16 with bf16. */
template <typename Weight, typename X>
struct PlainTileAvx512 {
  template <int kRows, int kTokens>
  static inline void run(const DotBlock* b, int32_t row, int32_t token) {
    TileAvx512<kRows, kTokens> tile;
    tile.begin(b, row, token);
    for (int64_t k = 0; k < b->in; k += 16) {
      const __mmask16 mask = first_lanes16(b->in - k);
      __m512 x[kTokens];
#pragma GCC unroll 8
      for (int t = 0; t < kTokens; ++t) x[t] = X::load_first(tile.x[t] + k * X::kBytes, mask);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const __m512 w = Weight::load_first(tile.w[r] + k * Weight::kBytes, mask);
#pragma GCC unroll 8
        for (int t = 0; t < kTokens; ++t) {
          tile.sums[r][t] = _mm512_fmadd_ps(w, x[t], tile.sums[r][t]);
        }
      }
    }
    tile.finish(b, row, token);
  }
};

struct Bf16TileAvx512 {
  template <int kRows, int kTokens>
  static inline void run(const DotBlock* b, int32_t row, int32_t token) {
    TileAvx512<kRows, kTokens> tile;
    tile.begin(b, row, token);
    for (int64_t k = 0; k < b->in; k += 32) {
      const __mmask32 mask = first_lanes32(b->in - k);
      __m512i x[kTokens];
#pragma GCC unroll 8
      for (int t = 0; t < kTokens; ++t) x[t] = _mm512_maskz_loadu_epi16(mask, tile.x[t] + 2 * k);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const __m512bh w = (__m512bh)_mm512_maskz_loadu_epi16(mask, tile.w[r] + 2 * k);
#pragma GCC unroll 8
        for (int t = 0; t < kTokens; ++t) {
          tile.sums[r][t] = _mm512_dpbf16_ps(tile.sums[r][t], w, (__m512bh)x[t]);
        }
      }
    }
    tile.finish(b, row, token);
  }
};

/* Scales of the next 16 blocks of each row, as fp32. */
template <int kRows, int kTokens>
inline void widen_scales_avx512(const TileAvx512<kRows, kTokens>& tile, int64_t k, int32_t in,
                                float (*scales)[16]) {
  const __mmask16 mask = first_lanes16((in - k) / MXFP8_BLOCK);
  for (int r = 0; r < kRows; ++r) {
    _mm512_store_ps(scales[r], e8m0_to_f32_avx512(tile.scales[r] + k / MXFP8_BLOCK, mask));
  }
}

constexpr int64_t kScaleSpan = 16 * MXFP8_BLOCK; /* elements whose scales are widened at once */

/* Each 32 elements are summed unscaled by vdpbf16ps, then added with their scale by one fma. */
struct Mxfp8Bf16TileAvx512 {
  template <int kRows, int kTokens>
  static inline void run(const DotBlock* b, int32_t row, int32_t token) {
    TileAvx512<kRows, kTokens> tile;
    tile.begin(b, row, token);
    const E4m3TablesAvx512 tables = load_e4m3_tables_avx512();
    /* Quarter words so ordered that unpacking bytes gives 32 neighbours in each half. */
    const __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    alignas(64) float scales[kRows][16];
    for (int64_t span = 0; span < b->in; span += kScaleSpan) {
      const int64_t end = span + kScaleSpan < b->in ? span + kScaleSpan : b->in;
      widen_scales_avx512(tile, span, b->in, scales);
      int64_t k = span;
      for (; k + 64 <= end; k += 64) {
        const int64_t block = (k - span) / MXFP8_BLOCK;
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          const __m512i codes = _mm512_permutexvar_epi64(order, _mm512_loadu_si512(tile.w[r] + k));
          const SplitBf16 split = e4m3_to_split_bf16(codes, tables);
          const __m512bh w0 = (__m512bh)_mm512_unpacklo_epi8(split.low, split.high);
          const __m512bh w1 = (__m512bh)_mm512_unpackhi_epi8(split.low, split.high);
          const __m512 scale0 = _mm512_set1_ps(scales[r][block]);
          const __m512 scale1 = _mm512_set1_ps(scales[r][block + 1]);
#pragma GCC unroll 8
          for (int t = 0; t < kTokens; ++t) {
            const __m512bh x0 = (__m512bh)_mm512_loadu_si512(tile.x[t] + 2 * k);
            const __m512bh x1 = (__m512bh)_mm512_loadu_si512(tile.x[t] + 2 * k + 64);
            const __m512 sum0 = _mm512_dpbf16_ps(_mm512_setzero_ps(), w0, x0);
            const __m512 sum1 = _mm512_dpbf16_ps(_mm512_setzero_ps(), w1, x1);
            tile.sums[r][t] = _mm512_fmadd_ps(sum0, scale0, tile.sums[r][t]);
            tile.sums[r][t] = _mm512_fmadd_ps(sum1, scale1, tile.sums[r][t]);
          }
        }
      }
      if (k < end) last_block(b, tile, tables, order, scales, span, k);
    }
    tile.finish(b, row, token);
  }

  /* An odd number of blocks leaves one. */
  template <int kRows, int kTokens>
  static inline void last_block(const DotBlock*, TileAvx512<kRows, kTokens>& tile,
                                const E4m3TablesAvx512& tables, __m512i order,
                                const float (*scales)[16], int64_t span, int64_t k) {
    for (int r = 0; r < kRows; ++r) {
      const __m512i half = _mm512_maskz_loadu_epi8(0xffffffffull, tile.w[r] + k);
      const SplitBf16 split =
          e4m3_to_split_bf16(_mm512_permutexvar_epi64(order, half), tables);
      const __m512bh w = (__m512bh)_mm512_unpacklo_epi8(split.low, split.high);
      const __m512 scale = _mm512_set1_ps(scales[r][(k - span) / MXFP8_BLOCK]);
      for (int t = 0; t < kTokens; ++t) {
        const __m512bh x = (__m512bh)_mm512_loadu_si512(tile.x[t] + 2 * k);
        const __m512 sum = _mm512_dpbf16_ps(_mm512_setzero_ps(), w, x);
        tile.sums[r][t] = _mm512_fmadd_ps(sum, scale, tile.sums[r][t]);
      }
    }
  }
};

/* Weights are widened to scaled fp32, exactly, and multiplied there. */
struct Mxfp8F32TileAvx512 {
  template <int kRows, int kTokens>
  static inline void run(const DotBlock* b, int32_t row, int32_t token) {
    TileAvx512<kRows, kTokens> tile;
    tile.begin(b, row, token);
    const E4m3TablesAvx512 tables = load_e4m3_tables_avx512();
    /* Four-byte groups so ordered that unpacking twice gives 16 neighbours in each quarter. */
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    alignas(64) float scales[kRows][16];
    for (int64_t span = 0; span < b->in; span += kScaleSpan) {
      const int64_t end = span + kScaleSpan < b->in ? span + kScaleSpan : b->in;
      widen_scales_avx512(tile, span, b->in, scales);
      for (int64_t k = span; k < end; k += 64) {
        const int64_t block = (k - span) / MXFP8_BLOCK;
        const int64_t n = end - k < 64 ? end - k : 64;
        const __mmask64 bytes = n == 64 ? ~0ull : 0xffffffffull;
        const __mmask16 second = n == 64 ? 0xffff : 0; /* x beyond the row is not read */
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          __m512 w[4];
          widen(_mm512_permutexvar_epi32(order, _mm512_maskz_loadu_epi8(bytes, tile.w[r] + k)),
                tables, scales[r][block], n == 64 ? scales[r][block + 1] : 0.0f, w);
#pragma GCC unroll 8
          for (int t = 0; t < kTokens; ++t) {
            const char* x = tile.x[t] + 4 * k;
            __m512 sum = tile.sums[r][t];
            sum = _mm512_fmadd_ps(w[0], _mm512_loadu_ps(x), sum);
            sum = _mm512_fmadd_ps(w[1], _mm512_loadu_ps(x + 64), sum);
            sum = _mm512_fmadd_ps(w[2], _mm512_maskz_loadu_ps(second, x + 128), sum);
            tile.sums[r][t] = _mm512_fmadd_ps(w[3], _mm512_maskz_loadu_ps(second, x + 192), sum);
          }
        }
      }
    }
    tile.finish(b, row, token);
  }

  static inline void widen(__m512i codes, const E4m3TablesAvx512& tables, float scale0,
                           float scale1, __m512* w) {
    const SplitBf16 split = e4m3_to_split_bf16(codes, tables);
    const __m512i low = _mm512_unpacklo_epi8(split.low, split.high);
    const __m512i high = _mm512_unpackhi_epi8(split.low, split.high);
    const __m512i zero = _mm512_setzero_si512();
    const __m512 first = _mm512_set1_ps(scale0);
    const __m512 second = _mm512_set1_ps(scale1);
    w[0] = _mm512_mul_ps(_mm512_castsi512_ps(_mm512_unpacklo_epi16(zero, low)), first);
    w[1] = _mm512_mul_ps(_mm512_castsi512_ps(_mm512_unpackhi_epi16(zero, low)), first);
    w[2] = _mm512_mul_ps(_mm512_castsi512_ps(_mm512_unpacklo_epi16(zero, high)), second);
    w[3] = _mm512_mul_ps(_mm512_castsi512_ps(_mm512_unpackhi_epi16(zero, high)), second);
  }
};

}  // namespace

static inline void dot_block_f32_f32_avx512(const DotBlock* b) {
  for_each_tile<PlainTileAvx512<Avx512F32, Avx512F32>, 4>(b);
}
static inline void dot_block_f32_bf16_avx512(const DotBlock* b) {
  for_each_tile<PlainTileAvx512<Avx512F32, Avx512Bf16>, 4>(b);
}
static inline void dot_block_bf16_f32_avx512(const DotBlock* b) {
  for_each_tile<PlainTileAvx512<Avx512Bf16, Avx512F32>, 4>(b);
}
static inline void dot_block_bf16_bf16_avx512(const DotBlock* b) {
  for_each_tile<Bf16TileAvx512, 4>(b);
}
static inline void dot_block_mxfp8_f32_avx512(const DotBlock* b) {
  for_each_tile<Mxfp8F32TileAvx512, 4>(b);
}
static inline void dot_block_mxfp8_bf16_avx512(const DotBlock* b) {
  for_each_tile<Mxfp8Bf16TileAvx512, 4>(b);
}

#endif
