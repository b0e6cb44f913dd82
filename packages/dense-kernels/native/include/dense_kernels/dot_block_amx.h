/* dot_block for AMX-TILE + AMX-BF16: bf16 activations, and f32 ones with MXFP8 weights; see
 * dot_block.h for the promises, which hold here too. Only for files compiled with the AMX flags
 * (their names end in _amx).
 *
 *   uint16_t* packed = …;                      // amx_packed_bytes(tokens, in), 64-byte aligned
 *   amx_pack(x, tokens, in, packed, 0, (tokens + 15) / 16);   // once for all weight rows
 *   dot_block_mxfp8_bf16_amx(&block, packed);  // block.x are the same rows
 *
 * f32 activations are three bf16 each, exactly, and take the place of three tokens (amx_pack_f32,
 * dot_block_mxfp8_f32_amx).
 *
 * One instruction multiplies a tile of 16 weight rows x 32 columns with a tile of 32 columns x 16
 * tokens. Weight tiles are read as they lie (bf16) or decoded into L1 once per 64 tokens (MXFP8); x
 * is repacked so that a tile row holds one pair of columns for 16 tokens.
 *
 * MXFP8 scales are added to the exponents of the decoded weights, exactly. A row for which that is
 * not possible (a scale byte outside 10…246, with f32 64…246, or a NaN code) is computed by the
 * AVX-512 code; the choice depends on the row alone.
 */
#ifndef DENSE_KERNELS_DOT_BLOCK_AMX_H
#define DENSE_KERNELS_DOT_BLOCK_AMX_H

#include "dense_kernels/dot_block_avx512.h"

namespace {

constexpr int32_t kAmxRows = 16;   /* weight rows of a tile */
constexpr int32_t kAmxTokens = 16; /* tokens of a tile */
constexpr int32_t kAmxGroups = 4;  /* token tiles that share a decoded weight tile */
constexpr int32_t kAmxStep = 32;   /* columns of one multiplication */
constexpr int32_t kAmxPadding = 64; /* x is padded to a multiple of this many columns */
constexpr int32_t kAmxTileBytes = kAmxRows * 64;
constexpr int32_t kAmxSpanSteps = 4;
constexpr int32_t kAmxSpan = kAmxSpanSteps * kAmxStep; /* columns decoded at once */
constexpr int32_t kAmxParts = 3; /* bf16 that hold one f32 of x */
constexpr int32_t kAmxLeastScale = 10;    /* scaled weights are normal bf16 */
constexpr int32_t kAmxLeastScaleF32 = 64; /* products with the lower parts of x are not lost */
constexpr int32_t kAmxAhead = 256; /* columns from decoding a weight row to its prefetch */

inline int64_t amx_padded_columns(int32_t in) {
  return (static_cast<int64_t>(in) + kAmxPadding - 1) / kAmxPadding * kAmxPadding;
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

/* Three bf16 whose sum is x exactly: its upper, middle and lower 8 bits. One part if x is not
 * finite. */
inline void amx_split(float x, uint16_t* parts) {
  const uint32_t bits = f32_to_bits(x);
  parts[0] = static_cast<uint16_t>(bits >> 16);
  parts[1] = 0;
  parts[2] = 0;
  if ((bits & 0x7f800000u) == 0x7f800000u) {
    if ((bits & 0x007fffffu) != 0) parts[0] |= 0x40u;
    return;
  }
  const float rest = x - bf16_to_f32(parts[0]);
  parts[1] = static_cast<uint16_t>(f32_to_bits(rest) >> 16);
  parts[2] = static_cast<uint16_t>(f32_to_bits(rest - bf16_to_f32(parts[1])) >> 16);
}

/* Packs f32 rows, as amx_pack would the three parts of each, one after the other. */
inline void amx_pack_f32(const void* const* x, int32_t tokens, int32_t in, uint16_t* packed) {
  const int64_t columns = amx_padded_columns(in);
  for (int32_t token = 0; token < tokens; ++token) {
    const float* row = static_cast<const float*>(x[token]);
    for (int64_t k = 0; k < columns; ++k) {
      uint16_t parts[kAmxParts] = {};
      if (k < in) amx_split(row[k], parts);
      for (int32_t part = 0; part < kAmxParts; ++part) {
        const int32_t t = token * kAmxParts + part;
        const int32_t first = t / kAmxTokens * kAmxTokens;
        const int32_t left = tokens * kAmxParts - first;
        const int32_t n = left < kAmxTokens ? left : kAmxTokens;
        packed[first * columns + k / 2 * 2 * n + 2 * (t - first) + k % 2] = parts[part];
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

/* Byte orders of vpermb. */
struct AmxOrders {
  alignas(64) uint8_t pairs[64] = {}; /* byte i beside byte i + 32, for i < 32 */
  alignas(64) uint8_t twice[64] = {}; /* bytes 0 … 15, each at 1 and 3 of 32 bits */
  constexpr AmxOrders() {
    for (uint8_t i = 0; i < 64; ++i) {
      pairs[i] = static_cast<uint8_t>(i / 2 + i % 2 * 32);
      twice[i] = i / 4;
    }
  }
};
constexpr AmxOrders kAmxOrders{};

struct AmxScratch {
  /* Weight tiles of a span; two spans in turn, so that a tile is loaded long after its stores. */
  alignas(64) uint16_t tiles[2][kAmxSpanSteps][kAmxRows * kAmxStep];
  alignas(64) uint32_t shifts[kAmxRows][16];
  int32_t least_scale;
  uint32_t bad_rows; /* bit r: row r has to be computed otherwise */
};

/* For the next 16 blocks of every row: (scale - 127 + 120) << 7, what makes a bf16 exponent of an
 * E4M3 one, twice in 32 bits. */
inline void amx_scale_shifts(const DotBlock* b, const AmxRowPointers& rows, int64_t k,
                             AmxScratch* s) {
  const __mmask16 mask = first_lanes16((b->in - k) / MXFP8_BLOCK);
  const __m512i twice = _mm512_load_si512(kAmxOrders.twice);
  const __m128i least = _mm_set1_epi8(static_cast<char>(s->least_scale));
  const __m128i span = _mm_set1_epi8(static_cast<char>(246 - s->least_scale));
  for (int r = 0; r < kAmxRows; ++r) {
    const __m128i scales =
        _mm_mask_loadu_epi8(_mm_set1_epi8(127), mask, rows.scales[r] + k / MXFP8_BLOCK);
    const __m512i wide = _mm512_maskz_permutexvar_epi8(0xaaaaaaaaaaaaaaaaull, twice,
                                                       _mm512_castsi128_si512(scales));
    _mm512_store_si512(s->shifts[r], _mm512_sub_epi16(_mm512_srli_epi16(wide, 1),
                                                      _mm512_set1_epi16(7 << 7)));
    const __m128i from_least = _mm_sub_epi8(scales, least);
    const __mmask16 bad = _mm_cmpgt_epu8_mask(from_least, span);
    if (__builtin_expect(bad != 0, 0)) s->bad_rows |= 1u << r;
  }
}

/* 64 normal codes as scaled bf16: codes i and i + 32 share 16 bits, in which sign, exponent and
 * mantissa of one move into place by a product with 16, of the other by a shift; one addition sets
 * the exponent. */
inline void amx_decode_normal(__m512i codes, const uint32_t* shifts, uint16_t* first,
                              uint16_t* second) {
  const __m512i fields = _mm512_set1_epi16(static_cast<short>(0x87f0));
  const __m512i pairs = _mm512_permutexvar_epi8(_mm512_load_si512(kAmxOrders.pairs), codes);
  const __m512i low = _mm512_maddubs_epi16(_mm512_set1_epi16(16), pairs);
  const __m512i high = _mm512_srai_epi16(pairs, 4);
  _mm512_store_si512(first, _mm512_add_epi16(_mm512_and_si512(low, fields),
                                             _mm512_set1_epi32(static_cast<int>(shifts[0]))));
  _mm512_store_si512(second, _mm512_add_epi16(_mm512_and_si512(high, fields),
                                              _mm512_set1_epi32(static_cast<int>(shifts[1]))));
}

/* bf16 times a power of two; zeros stay. */
inline __m512i amx_shift(__m512i values, uint32_t shift) {
  const __mmask32 nonzero = _mm512_test_epi16_mask(values, _mm512_set1_epi16(0x7fff));
  const __m512i exponent = _mm512_sub_epi16(_mm512_set1_epi32(static_cast<int>(shift)),
                                            _mm512_set1_epi16(120 << 7));
  return _mm512_mask_add_epi16(values, nonzero, values, exponent);
}

/* 64 codes of any kind but NaN as scaled bf16. */
inline void amx_decode_any(__m512i codes, const uint32_t* shifts, uint16_t* first,
                           uint16_t* second) {
  const __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
  const SplitBf16 split =
      e4m3_to_split_bf16(_mm512_permutexvar_epi64(order, codes), load_e4m3_tables_avx512());
  _mm512_store_si512(first, amx_shift(_mm512_unpacklo_epi8(split.low, split.high), shifts[0]));
  _mm512_store_si512(second, amx_shift(_mm512_unpackhi_epi8(split.low, split.high), shifts[1]));
}

/* Twice the magnitude, less 16: 240 and above for magnitudes below 8, 238 for a NaN, else less. */
inline __m512i amx_distance(__m512i codes) {
  return _mm512_sub_epi8(_mm512_add_epi8(codes, codes), _mm512_set1_epi8(16));
}

/* A span of one row as scaled bf16; `tiles` is where the row lies in the first of its tiles. Zeros,
 * subnormals and NaN, together one span in a hundred of a trained layer, take the way through the
 * tables. True if there is a NaN. */
inline bool amx_decode_row(const uint8_t* codes, const __mmask64* masks, const uint32_t* shifts,
                           uint16_t* tiles) {
  constexpr int32_t kTile = kAmxRows * kAmxStep;
  const __m512i codes0 = _mm512_maskz_loadu_epi8(masks[0], codes);
  const __m512i codes1 = _mm512_maskz_loadu_epi8(masks[1], codes + 64);
  const __m512i distance0 = amx_distance(codes0);
  const __m512i distance1 = amx_distance(codes1);
  const __m512i nan = _mm512_set1_epi8(static_cast<char>(238));
  const __m512i largest = _mm512_max_epu8(distance0, distance1);
  if (__builtin_expect(_mm512_cmpge_epu8_mask(largest, nan) == 0, 1)) {
    amx_decode_normal(codes0, shifts, tiles, tiles + kTile);
    amx_decode_normal(codes1, shifts + 2, tiles + 2 * kTile, tiles + 3 * kTile);
    return false;
  }
  amx_decode_any(codes0, shifts, tiles, tiles + kTile);
  amx_decode_any(codes1, shifts + 2, tiles + 2 * kTile, tiles + 3 * kTile);
  return (_mm512_cmpeq_epi8_mask(distance0, nan) | _mm512_cmpeq_epi8_mask(distance1, nan)) != 0;
}

/* Columns k … k + 127 of rows [first, first + kRows) into the tiles of that span. */
template <int kRows>
inline void amx_decode_rows(const DotBlock* b, const AmxRowPointers& rows, int64_t k, int first,
                            AmxScratch* s) {
  const int64_t left = b->in - k; /* whole blocks of 32 */
  const __mmask64 masks[2] = {left >= 64 ? ~0ull : 0xffffffffull,
                              left >= 128 ? ~0ull : left > 64 ? 0xffffffffull : 0ull};
  const int64_t block = k % kScaleSpan / MXFP8_BLOCK;
  uint16_t* tiles = s->tiles[k / kAmxSpan % 2][0];
#pragma GCC unroll 4
  for (int r = first; r < first + kRows; ++r) {
    const uint8_t* w = rows.w[r] + k;
    _mm_prefetch(reinterpret_cast<const char*>(w + kAmxAhead), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(w + kAmxAhead + 64), _MM_HINT_T0);
    const bool has_nan = amx_decode_row(w, masks, s->shifts[r] + block, tiles + r * kAmxStep);
    if (__builtin_expect(has_nan, 0)) s->bad_rows |= 1u << r;
  }
}

/* Rows of the block, at most 16 from `row`, that tiles cannot compute. */
inline void amx_bad_rows(const DotBlock* b, int32_t row, uint32_t bad, DotBlockFunction dot) {
  for (int32_t r = row; r < b->rows && bad != 0; ++r, bad >>= 1) {
    if ((bad & 1) == 0) continue;
    DotBlock one = *b;
    one.weights = static_cast<const char*>(b->weights) + r * b->weight_stride;
    one.scales = b->scales + r * b->scale_stride;
    one.y = b->y + r * b->y_row;
    one.rows = 1;
    dot(&one);
  }
}

/* While a span is multiplied, the next is decoded: a quarter of its rows for every step. Returns
 * the bad rows. */
template <int kFull>
inline uint32_t amx_mxfp8_unit(const DotBlock* b, int32_t row, int32_t token, const AmxX& x,
                               int32_t least_scale) {
  constexpr int kQuarter = kAmxRows / kAmxSpanSteps;
  const AmxRowPointers rows = amx_rows(b, row);
  AmxScratch s;
  s.least_scale = least_scale;
  s.bad_rows = 0;
  amx_zero();
  for (int64_t next = 0; next < b->in + kAmxSpan; next += kAmxSpan) {
    const int64_t k = next - kAmxSpan; /* of the span that is multiplied */
    if (next < b->in && next % kScaleSpan == 0) amx_scale_shifts(b, rows, next, &s);
    const auto* tiles = s.tiles[(next / kAmxSpan + 1) % 2];
#pragma GCC unroll 4
    for (int step = 0; step < kAmxSpanSteps; ++step) {
      if (next < b->in) amx_decode_rows<kQuarter>(b, rows, next, step * kQuarter, &s);
      const int64_t column = k + step * kAmxStep;
      if (k >= 0 && column < b->in) amx_step<kFull>(tiles[step], 64, x, column / kAmxStep);
    }
  }
  amx_store<kFull>(b, row, token, x.last_tokens);
  return s.bad_rows;
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
  inline void run(const DotBlock* b, int32_t row, int32_t token, const AmxX& x) const {
    const uint32_t bad = amx_mxfp8_unit<kFull>(b, row, token, x, kAmxLeastScale);
    DotBlock tokens = *b;
    tokens.x += token;
    tokens.y += token * b->y_token;
    tokens.tokens = kFull * kAmxTokens + x.last_tokens;
    amx_bad_rows(&tokens, row, bad, dot_block_mxfp8_bf16_avx512);
  }
};

/* Of blocks of up to 16 rows; leaves the bad ones, whose bits follow from the rows alone. */
struct AmxMxfp8PartsUnit {
  uint32_t* bad;
  template <int kFull>
  inline void run(const DotBlock* b, int32_t row, int32_t token, const AmxX& x) const {
    *bad = amx_mxfp8_unit<kFull>(b, row, token, x, kAmxLeastScaleF32);
  }
};

struct AmxBf16Unit {
  template <int kFull>
  inline void run(const DotBlock* b, int32_t row, int32_t token, const AmxX& x) const {
    amx_bf16_unit<kFull>(b, row, token, x);
  }
};

/* All units of a block: 16 rows x up to 64 tokens. */
template <typename Unit>
inline void for_each_amx_unit(const DotBlock* b, const uint16_t* packed, const Unit& unit) {
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
      if (full == 0) unit.template run<0>(b, row, token, x);
      if (full == 1) unit.template run<1>(b, row, token, x);
      if (full == 2) unit.template run<2>(b, row, token, x);
      if (full == 3) unit.template run<3>(b, row, token, x);
    }
  }
  _tile_release();
}

}  // namespace

/* `packed`: b->x by amx_pack. */
static inline void dot_block_mxfp8_bf16_amx(const DotBlock* b, const uint16_t* packed) {
  for_each_amx_unit(b, packed, AmxMxfp8Unit{});
}
static inline void dot_block_bf16_bf16_amx(const DotBlock* b, const uint16_t* packed) {
  for_each_amx_unit(b, packed, AmxBf16Unit{});
}

/* `packed`: the f32 rows b->x by amx_pack_f32; at most 64 tokens. The parts of x are summed apart
 * and then added, the smallest first. */
static inline void dot_block_mxfp8_f32_amx(const DotBlock* b, const uint16_t* packed) {
  constexpr int32_t kMaxSums = 64 * kAmxParts;
  float sums[kAmxRows * kMaxSums];
  for (int32_t row = 0; row < b->rows; row += kAmxRows) {
    DotBlock parts = *b;
    parts.weights = static_cast<const char*>(b->weights) + row * b->weight_stride;
    parts.scales = b->scales + row * b->scale_stride;
    parts.rows = b->rows - row < kAmxRows ? b->rows - row : kAmxRows;
    parts.tokens = b->tokens * kAmxParts;
    parts.y = sums;
    parts.y_row = kMaxSums;
    parts.y_token = 1;
    uint32_t bad = 0;
    for_each_amx_unit(&parts, packed, AmxMxfp8PartsUnit{&bad});
    for (int32_t r = 0; r < parts.rows; ++r) {
      for (int32_t t = 0; t < b->tokens; ++t) {
        const float* part = sums + r * kMaxSums + t * kAmxParts;
        b->y[(row + r) * b->y_row + t * b->y_token] = part[2] + part[1] + part[0];
      }
    }
    amx_bad_rows(b, row, bad, dot_block_mxfp8_f32_avx512);
  }
}

#endif
