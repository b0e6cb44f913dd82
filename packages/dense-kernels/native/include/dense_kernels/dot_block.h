/* Dot products of a block of weight rows with a block of activation rows: the inner loop of every
 * linear and of the experts. C++ only; safe in files of one instruction set (internal linkage).
 *
 *   DotBlock b = {…};
 *   dot_block_mxfp8_bf16_avx512(&b);   // b.y[r * b.y_row + t * b.y_token] for all r, t
 *
 * Functions are dot_block_<weights>_<x>_<level>:
 *   weights  mxfp8 | bf16 | f32        x  bf16 | f32        level  baseline | avx2 | avx512
 * in dot_block.h (baseline), dot_block_avx2.h and dot_block_avx512.h; all have the type
 * DotBlockFunction. kCpuAmx uses avx512 unless stated otherwise.
 *
 * Promises
 * - fp32 accumulation; weights are widened exactly; one (row, token) result depends on that weight
 *   row, that x row and `in` alone: neither on the other rows and tokens nor on how a caller cuts
 *   the work, bit for bit (per level). Levels differ in the order of summation.
 * - any rows >= 0, tokens >= 0, in >= 0 (mxfp8: in % 32 == 0). No alignment is needed; nothing is
 *   read outside the rows. y is written, never read.
 * - mxfp8 x bf16 and bf16 x bf16 on avx512 use vdpbf16ps, which takes subnormal bf16 as zero.
 * Cost
 * - Weights are decoded once per 4 tokens (avx2: 2). A caller with many tokens keeps the block's x
 *   in L2: about 64 tokens at in = 6144; and passes 8 rows or more (multiples of 8 are best).
 */
#ifndef DENSE_KERNELS_DOT_BLOCK_H
#define DENSE_KERNELS_DOT_BLOCK_H

#include <stdint.h>

#include "dense_kernels/bf16.h"
#include "dense_kernels/mxfp8.h"

typedef struct DotBlock {
  const void* weights;   /* first weight row: e4m3, bf16 or f32 [rows, in] */
  const uint8_t* scales; /* first scale row: e8m0 [rows, in / 32]; only read for mxfp8 */
  int64_t weight_stride; /* bytes from one weight row to the next */
  int64_t scale_stride;  /* bytes from one scale row to the next */
  const void* const* x;  /* `tokens` pointers to activation rows: bf16 or f32 [in] */
  float* y;              /* results, y[r * y_row + t * y_token] */
  int64_t y_row;         /* floats from one weight row's result to the next */
  int64_t y_token;       /* floats from one token's result to the next */
  int32_t rows;          /* weight rows, outputs */
  int32_t tokens;        /* activation rows */
  int32_t in;            /* length of every row, elements */
} DotBlock;

typedef void (*DotBlockFunction)(const DotBlock* block);

namespace {

/* Calls Tile::run<rows, tokens> for tiles that cover the block. With one token: 8 rows at a time,
 * so that enough independent sums are in flight; else 4 rows. */
template <typename Tile, int kTokens>
inline void for_each_token_tile(const DotBlock* b, int32_t token, int32_t row, int32_t rows) {
  if (rows == 4) {
    Tile::template run<4, kTokens>(b, row, token);
  } else {
    Tile::template run<1, kTokens>(b, row, token);
  }
}

template <typename Tile, int kMaxTokens>
inline void for_each_tile(const DotBlock* b) {
  int32_t row = 0;
  if (b->tokens == 1) {
    for (; row + 8 <= b->rows; row += 8) Tile::template run<8, 1>(b, row, 0);
  }
  while (row < b->rows) {
    const int32_t rows = b->rows - row >= 4 ? 4 : 1;
    int32_t token = 0;
    if constexpr (kMaxTokens >= 4) {
      for (; token + 4 <= b->tokens; token += 4) for_each_token_tile<Tile, 4>(b, token, row, rows);
    }
    if constexpr (kMaxTokens >= 3) {
      for (; token + 3 <= b->tokens; token += 3) for_each_token_tile<Tile, 3>(b, token, row, rows);
    }
    for (; token + 2 <= b->tokens; token += 2) for_each_token_tile<Tile, 2>(b, token, row, rows);
    for (; token < b->tokens; ++token) for_each_token_tile<Tile, 1>(b, token, row, rows);
    row += rows;
  }
}

// ---- baseline: readable scalar code ----------------------------------------------------------

struct BaselineF32 {
  static void widen(const DotBlock*, const void* row, const uint8_t*, int32_t k, int32_t n,
                    float* to) {
    for (int32_t i = 0; i < n; ++i) to[i] = static_cast<const float*>(row)[k + i];
  }
};

struct BaselineBf16 {
  static void widen(const DotBlock*, const void* row, const uint8_t*, int32_t k, int32_t n,
                    float* to) {
    for (int32_t i = 0; i < n; ++i) to[i] = bf16_to_f32(static_cast<const uint16_t*>(row)[k + i]);
  }
};

struct BaselineMxfp8 {
  static void widen(const DotBlock*, const void* row, const uint8_t* scales, int32_t k, int32_t n,
                    float* to) {
    const float scale = e8m0_to_f32(scales[k / MXFP8_BLOCK]);
    const uint8_t* codes = static_cast<const uint8_t*>(row) + k;
    for (int32_t i = 0; i < n; ++i) to[i] = kE4m3Table.value[codes[i]] * scale;
  }
};

/* Eight running sums a token, so that the compiler may vectorise without changing the result. */
template <typename Weight, typename X>
inline void dot_block_baseline(const DotBlock* b) {
  constexpr int32_t kSums = 8;
  constexpr int32_t kTokens = 4;
  for (int32_t r = 0; r < b->rows; ++r) {
    const char* row = static_cast<const char*>(b->weights) + r * b->weight_stride;
    const uint8_t* scales = b->scales ? b->scales + r * b->scale_stride : nullptr;
    for (int32_t first = 0; first < b->tokens; first += kTokens) {
      const int32_t tokens = b->tokens - first < kTokens ? b->tokens - first : kTokens;
      float sums[kTokens][kSums] = {};
      for (int32_t k = 0; k < b->in; k += MXFP8_BLOCK) {
        const int32_t n = b->in - k < MXFP8_BLOCK ? b->in - k : MXFP8_BLOCK;
        float w[MXFP8_BLOCK] = {};
        float x[MXFP8_BLOCK] = {};
        Weight::widen(b, row, scales, k, n, w);
        for (int32_t t = 0; t < tokens; ++t) {
          X::widen(b, b->x[first + t], nullptr, k, n, x);
          for (int32_t i = 0; i < MXFP8_BLOCK; ++i) sums[t][i % kSums] += w[i] * x[i];
        }
      }
      for (int32_t t = 0; t < tokens; ++t) {
        const float* s = sums[t];
        b->y[r * b->y_row + (first + t) * b->y_token] =
            ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
      }
    }
  }
}

}  // namespace

static inline void dot_block_f32_f32_baseline(const DotBlock* b) {
  dot_block_baseline<BaselineF32, BaselineF32>(b);
}
static inline void dot_block_f32_bf16_baseline(const DotBlock* b) {
  dot_block_baseline<BaselineF32, BaselineBf16>(b);
}
static inline void dot_block_bf16_f32_baseline(const DotBlock* b) {
  dot_block_baseline<BaselineBf16, BaselineF32>(b);
}
static inline void dot_block_bf16_bf16_baseline(const DotBlock* b) {
  dot_block_baseline<BaselineBf16, BaselineBf16>(b);
}
static inline void dot_block_mxfp8_f32_baseline(const DotBlock* b) {
  dot_block_baseline<BaselineMxfp8, BaselineF32>(b);
}
static inline void dot_block_mxfp8_bf16_baseline(const DotBlock* b) {
  dot_block_baseline<BaselineMxfp8, BaselineBf16>(b);
}

#endif
