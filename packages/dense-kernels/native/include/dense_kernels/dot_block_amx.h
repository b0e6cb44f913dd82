/* dot_block for AMX-TILE + AMX-BF16, bf16 activations only; see dot_block.h for the promises, which
 * hold here too. Only for files compiled with the AMX flags (their names end in _amx).
 *
 *   uint16_t* packed = …;                      // amx_packed_bytes(tokens, in), 64-byte aligned
 *   amx_pack(x, tokens, in, packed, 0, (tokens + 15) / 16);   // once for all weight rows
 *   dot_block_mxfp8_bf16_amx(&block, packed);  // block.x are the same rows
 *
 * One instruction multiplies a tile of 16 weight rows x 32 columns with a tile of 32 columns x 16
 * tokens. Weight tiles are read as they lie (bf16) or decoded into L1 once per 64 tokens (MXFP8); x
 * is repacked so that a tile row holds one pair of columns for 16 tokens.
 *
 * MXFP8 scales are added to the exponents of the decoded weights, exactly. A row for which that is
 * not possible (a scale byte outside 10…246, or a NaN code) is computed by the AVX-512 code; the
 * choice depends on the row alone.
 */
#ifndef DENSE_KERNELS_DOT_BLOCK_AMX_H
#define DENSE_KERNELS_DOT_BLOCK_AMX_H

#include "dense_kernels/dot_block_avx512.h"

namespace {

constexpr int32_t kAmxRows = 16;   /* weight rows of a tile */
constexpr int32_t kAmxTokens = 16; /* tokens of a tile */
constexpr int32_t kAmxGroups = 4;  /* token tiles that share a decoded weight tile */
constexpr int32_t kAmxStep = 32;   /* columns of one multiplication */
constexpr int32_t kAmxChunk = 64;  /* columns decoded at once, two steps */
constexpr int32_t kAmxTileBytes = kAmxRows * 64;

inline int64_t amx_padded_columns(int32_t in) {
  return (static_cast<int64_t>(in) + kAmxChunk - 1) / kAmxChunk * kAmxChunk;
}

/* Bytes that x takes when packed. */
inline int64_t amx_packed_bytes(int32_t tokens, int32_t in) {
  return tokens * amx_padded_columns(in) * 2;
}

/* Packs groups [first, end) of 16 tokens (the last may be smaller). Layout of a group of n tokens:
 * [padded columns / 2][n] pairs of columns. */
inline void amx_pack(const void* const* x, int32_t tokens, int32_t in, uint16_t* packed,
                     int64_t first, int64_t end) {
  const int64_t columns = amx_padded_columns(in);
  for (int64_t group = first; group < end; ++group) {
    const int32_t token = static_cast<int32_t>(group) * kAmxTokens;
    const int32_t n = tokens - token < kAmxTokens ? tokens - token : kAmxTokens;
    uint16_t* to = packed + token * columns;
    for (int32_t t = 0; t < n; ++t) {
      const uint16_t* row = static_cast<const uint16_t*>(x[token + t]);
      for (int64_t k = 0; k < columns; k += 2) {
        to[k * n + 2 * t] = k < in ? row[k] : 0;
        to[k * n + 2 * t + 1] = k + 1 < in ? row[k + 1] : 0;
      }
    }
  }
}

/* GCC's tile loads do not tell the compiler that they read memory; this makes it write first what
 * they will read. No instruction. */
inline void amx_finish_stores() { __asm__ volatile("" ::: "memory"); }

/* Tiles 0-2: sums of full groups. 3: sums of the last group. 4: weights. 5, 6: x of full groups.
 * 7: x of the last group, which may have fewer tokens. */
struct alignas(64) AmxConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

inline void amx_configure(int32_t last_tokens) {
  AmxConfig config;
  for (int tile = 0; tile < 8; ++tile) {
    const bool is_last = tile == 3 || tile == 7;
    config.rows[tile] = 16;
    config.row_bytes[tile] = static_cast<uint16_t>(is_last ? last_tokens * 4 : 64);
  }
  amx_finish_stores();
  _tile_loadconfig(&config);
}

/* Where the x tiles of a unit of up to 64 tokens lie. */
struct AmxX {
  const char* full;   /* packed group 0 of the unit */
  const char* last;   /* the last group */
  int64_t group_bytes; /* bytes of a full group */
  int32_t last_tokens;
};

/* One step of 32 columns: weights from `a`, rows `stride` bytes apart. */
template <int kFull>
inline void amx_step(const void* a, int64_t stride, const AmxX& x, int64_t step) {
  amx_finish_stores();
  _tile_loadd(4, a, stride);
  const int64_t full = step * kAmxTileBytes;
  if constexpr (kFull > 0) {
    _tile_loadd(5, x.full + full, 64);
    _tile_dpbf16ps(0, 4, 5);
  }
  if constexpr (kFull > 1) {
    _tile_loadd(6, x.full + x.group_bytes + full, 64);
    _tile_dpbf16ps(1, 4, 6);
  }
  if constexpr (kFull > 2) {
    _tile_loadd(5, x.full + 2 * x.group_bytes + full, 64);
    _tile_dpbf16ps(2, 4, 5);
  }
  _tile_loadd(7, x.last + step * kAmxRows * x.last_tokens * 4, x.last_tokens * 4);
  _tile_dpbf16ps(3, 4, 7);
}

inline void amx_zero() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

/* Sums of one unit to b->y: rows x tokens from (row, token). */
template <int kFull>
inline void amx_store(const DotBlock* b, int32_t row, int32_t token, int32_t last_tokens) {
  alignas(64) float sums[kAmxGroups][kAmxRows * kAmxTokens];
  if constexpr (kFull > 0) _tile_stored(0, sums[0], 64);
  if constexpr (kFull > 1) _tile_stored(1, sums[1], 64);
  if constexpr (kFull > 2) _tile_stored(2, sums[2], 64);
  _tile_stored(3, sums[kFull], 64);
  const int32_t rows = b->rows - row < kAmxRows ? b->rows - row : kAmxRows;
  for (int32_t group = 0; group <= kFull; ++group) {
    const int32_t n = group == kFull ? last_tokens : kAmxTokens;
    for (int32_t t = 0; t < n; ++t) {
      float* y = b->y + row * b->y_row + (token + group * kAmxTokens + t) * b->y_token;
      for (int32_t r = 0; r < rows; ++r) y[r * b->y_row] = sums[group][r * kAmxTokens + t];
    }
  }
}

struct AmxRowPointers {
  const uint8_t* w[kAmxRows]; /* rows beyond the block repeat its last */
  const uint8_t* scales[kAmxRows];
};

inline AmxRowPointers amx_rows(const DotBlock* b, int32_t row) {
  AmxRowPointers rows;
  for (int32_t r = 0; r < kAmxRows; ++r) {
    const int64_t index = row + r < b->rows ? row + r : b->rows - 1;
    rows.w[r] = static_cast<const uint8_t*>(b->weights) + index * b->weight_stride;
    rows.scales[r] = b->scales + index * b->scale_stride;
  }
  return rows;
}

/* For the next 16 blocks of a row: (scale - 127 + 120) << 7, what makes a bf16 exponent of an E4M3
 * one, twice in 32 bits. False if a scale is out of range. */
inline bool amx_scale_shifts(const uint8_t* scales, __mmask16 mask, uint32_t* shifts) {
  const __m512i wide = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, scales));
  const __m512i shift = _mm512_slli_epi32(_mm512_sub_epi32(wide, _mm512_set1_epi32(7)), 7);
  const __m512i low = _mm512_and_si512(shift, _mm512_set1_epi32(0xffff));
  _mm512_store_si512(shifts, _mm512_or_si512(low, _mm512_slli_epi32(shift, 16)));
  const __m512i from_least = _mm512_sub_epi32(wide, _mm512_set1_epi32(10));
  return _mm512_mask_cmpgt_epu32_mask(mask, from_least, _mm512_set1_epi32(236)) == 0;
}

/* 32 normal codes as scaled bf16: sign, exponent and mantissa move into place, one addition sets
 * the exponent. */
inline __m512i amx_decode_normal(const uint8_t* codes, uint32_t shift) {
  const __m512i wide =
      _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes)));
  const __m512i fields =
      _mm512_and_si512(_mm512_slli_epi16(wide, 4), _mm512_set1_epi16(static_cast<short>(0x87f0)));
  return _mm512_add_epi16(fields, _mm512_set1_epi32(static_cast<int>(shift)));
}

/* bf16 times a power of two; zeros stay. */
inline __m512i amx_shift(__m512i values, uint32_t shift) {
  const __mmask32 nonzero = _mm512_test_epi16_mask(values, _mm512_set1_epi16(0x7fff));
  const __m512i exponent = _mm512_sub_epi16(_mm512_set1_epi32(static_cast<int>(shift)),
                                            _mm512_set1_epi16(120 << 7));
  return _mm512_mask_add_epi16(values, nonzero, values, exponent);
}

struct AmxScratch {
  /* Weight tiles of a chunk (two steps); two in turn, so that a tile is loaded long after its
   * stores. */
  alignas(64) uint16_t tiles[2][2][kAmxRows * kAmxStep];
  alignas(64) uint32_t shifts[kAmxRows][16];
  uint32_t bad_rows; /* bit r: row r has to be computed otherwise */
};

/* 64 codes of row r as scaled bf16. Zeros, subnormals and NaN, together one vector in a hundred of
 * a trained layer, take the way through the tables. */
inline void amx_decode_row(const uint8_t* codes, __mmask64 mask, const uint32_t* shifts, int r,
                           uint16_t (*tiles)[kAmxRows * kAmxStep], AmxScratch* s) {
  uint16_t* first = tiles[0] + r * kAmxStep;
  uint16_t* second = tiles[1] + r * kAmxStep;
  const __m512i values = _mm512_maskz_loadu_epi8(mask, codes);
  /* twice the magnitude, less 16: 240 and above for magnitudes below 8, 238 for a NaN */
  const __m512i distance = _mm512_sub_epi8(_mm512_add_epi8(values, values), _mm512_set1_epi8(16));
  const __mmask64 special =
      _mm512_cmpge_epu8_mask(distance, _mm512_set1_epi8(static_cast<char>(238)));
  if (__builtin_expect(special == 0, 1)) {
    _mm512_store_si512(first, amx_decode_normal(codes, shifts[0]));
    _mm512_store_si512(second, amx_decode_normal(codes + 32, shifts[1]));
    return;
  }
  if (_mm512_cmpeq_epi8_mask(distance, _mm512_set1_epi8(static_cast<char>(238))) != 0) {
    s->bad_rows |= 1u << r;
  }
  const __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
  const SplitBf16 split =
      e4m3_to_split_bf16(_mm512_permutexvar_epi64(order, values), load_e4m3_tables_avx512());
  _mm512_store_si512(first, amx_shift(_mm512_unpacklo_epi8(split.low, split.high), shifts[0]));
  _mm512_store_si512(second, amx_shift(_mm512_unpackhi_epi8(split.low, split.high), shifts[1]));
}

/* Columns k … k + 63 of 16 rows into the tiles of that chunk. */
inline void amx_decode_chunk(const DotBlock* b, const AmxRowPointers& rows, int64_t k,
                             AmxScratch* s) {
  if (k % kScaleSpan == 0) {
    const __mmask16 mask = first_lanes16((b->in - k) / MXFP8_BLOCK);
    for (int r = 0; r < kAmxRows; ++r) {
      const uint8_t* scales = rows.scales[r] + k / MXFP8_BLOCK;
      s->bad_rows |= amx_scale_shifts(scales, mask, s->shifts[r]) ? 0u : 1u << r;
    }
  }
  const int64_t block = k % kScaleSpan / MXFP8_BLOCK;
  const __mmask64 mask = b->in - k >= kAmxChunk ? ~0ull : 0xffffffffull;
  for (int r = 0; r < kAmxRows; ++r) {
    _mm_prefetch(reinterpret_cast<const char*>(rows.w[r] + k + 256), _MM_HINT_T0);
    amx_decode_row(rows.w[r] + k, mask, s->shifts[r] + block, r, s->tiles[k / kAmxChunk % 2], s);
  }
}

template <int kFull>
inline void amx_mxfp8_unit(const DotBlock* b, int32_t row, int32_t token, const AmxX& x) {
  const AmxRowPointers rows = amx_rows(b, row);
  AmxScratch s;
  s.bad_rows = 0;
  amx_zero();
  if (b->in > 0) amx_decode_chunk(b, rows, 0, &s);
  for (int64_t k = 0; k < b->in; k += kAmxChunk) {
    if (k + kAmxChunk < b->in) amx_decode_chunk(b, rows, k + kAmxChunk, &s);
    const auto* tiles = s.tiles[k / kAmxChunk % 2];
    amx_step<kFull>(tiles[0], 64, x, k / kAmxStep);
    amx_step<kFull>(tiles[1], 64, x, k / kAmxStep + 1);
  }
  amx_store<kFull>(b, row, token, x.last_tokens);
  for (int32_t r = 0; r < kAmxRows && row + r < b->rows; ++r) {
    if ((s.bad_rows >> r & 1) == 0) continue;
    DotBlock one = *b;
    one.weights = rows.w[r];
    one.scales = rows.scales[r];
    one.x = b->x + token;
    one.y = b->y + (row + r) * b->y_row + token * b->y_token;
    one.rows = 1;
    one.tokens = kFull * kAmxTokens + x.last_tokens;
    dot_block_mxfp8_bf16_avx512(&one);
  }
}

/* The last columns or rows of bf16 weights, zeros around them, as one tile. */
inline void amx_copy_tile(const DotBlock* b, int32_t row, int64_t k, uint16_t* tile) {
  const __mmask32 mask = first_lanes32(b->in - k);
  for (int32_t r = 0; r < kAmxRows; ++r) {
    const char* w = static_cast<const char*>(b->weights) + (row + r) * b->weight_stride + 2 * k;
    const __m512i values =
        row + r < b->rows ? _mm512_maskz_loadu_epi16(mask, w) : _mm512_setzero_si512();
    _mm512_store_si512(tile + r * kAmxStep, values);
  }
}

template <int kFull>
inline void amx_bf16_unit(const DotBlock* b, int32_t row, int32_t token, const AmxX& x) {
  const char* w = static_cast<const char*>(b->weights) + row * b->weight_stride;
  alignas(64) uint16_t tile[kAmxRows * kAmxStep];
  const bool is_whole = row + kAmxRows <= b->rows;
  amx_zero();
  for (int64_t k = 0; k < b->in; k += kAmxStep) {
    if (is_whole && k + kAmxStep <= b->in) {
      amx_step<kFull>(w + 2 * k, b->weight_stride, x, k / kAmxStep);
    } else {
      amx_copy_tile(b, row, k, tile);
      amx_step<kFull>(tile, 64, x, k / kAmxStep);
    }
  }
  amx_store<kFull>(b, row, token, x.last_tokens);
}

struct AmxMxfp8Unit {
  template <int kFull>
  static inline void run(const DotBlock* b, int32_t row, int32_t token, const AmxX& x) {
    amx_mxfp8_unit<kFull>(b, row, token, x);
  }
};

struct AmxBf16Unit {
  template <int kFull>
  static inline void run(const DotBlock* b, int32_t row, int32_t token, const AmxX& x) {
    amx_bf16_unit<kFull>(b, row, token, x);
  }
};

/* All units of a block: 16 rows x up to 64 tokens. */
template <typename Unit>
inline void for_each_amx_unit(const DotBlock* b, const uint16_t* packed) {
  const int64_t columns = amx_padded_columns(b->in);
  for (int32_t token = 0; token < b->tokens; token += kAmxGroups * kAmxTokens) {
    const int32_t tokens = b->tokens - token < kAmxGroups * kAmxTokens
                               ? b->tokens - token
                               : kAmxGroups * kAmxTokens;
    const int32_t full = (tokens - 1) / kAmxTokens;
    AmxX x;
    x.full = reinterpret_cast<const char*>(packed + token * columns);
    x.group_bytes = kAmxTokens * columns * 2;
    x.last = x.full + full * x.group_bytes;
    x.last_tokens = tokens - full * kAmxTokens;
    amx_configure(x.last_tokens);
    for (int32_t row = 0; row < b->rows; row += kAmxRows) {
      if (full == 0) Unit::template run<0>(b, row, token, x);
      if (full == 1) Unit::template run<1>(b, row, token, x);
      if (full == 2) Unit::template run<2>(b, row, token, x);
      if (full == 3) Unit::template run<3>(b, row, token, x);
    }
  }
  _tile_release();
}

}  // namespace

/* `packed`: b->x by amx_pack. */
static inline void dot_block_mxfp8_bf16_amx(const DotBlock* b, const uint16_t* packed) {
  for_each_amx_unit<AmxMxfp8Unit>(b, packed);
}
static inline void dot_block_bf16_bf16_amx(const DotBlock* b, const uint16_t* packed) {
  for_each_amx_unit<AmxBf16Unit>(b, packed);
}

#endif
