// Sizes that the drivers and the per-instruction-set bodies of attention and block scores share.
#ifndef ATTENTION_KERNELS_TILE_LIMITS_H
#define ATTENTION_KERNELS_TILE_LIMITS_H

#include <stdint.h>

namespace attention_kernels {
namespace {

constexpr int kTileKeys = 32;      // keys widened at once, counted from the start of a page
constexpr int kMaxDims = 512;      // head_dim, index_dim
constexpr int kMaxRows = 64;       // query rows (tokens x heads) that share a tile of keys
constexpr int kRowFloats = 8192;   // bound of rows * dims: 32 KiB of queries stay in the L1 cache

// Query rows of `dims` elements that one call takes.
constexpr int rows_per_call(int dims) {
  const int padded = (dims + 15) / 16 * 16;
  const int rows = kRowFloats / padded;
  return rows < kMaxRows ? rows : kMaxRows;
}
static_assert(rows_per_call(kMaxDims) == 16);

// Keys of a tile that begins at absolute position `start` which a token at `position` may see.
constexpr int visible_keys(int64_t position, int64_t start, int tile_keys) {
  const int64_t count = position + 1 - start;
  return count < 0 ? 0 : count < tile_keys ? static_cast<int>(count) : tile_keys;
}

// Blocks that hold a key for a token at `position`, as far as the page table goes; 0 for padding.
constexpr int32_t candidate_blocks(int32_t position, int32_t page_tokens, int32_t max_pages) {
  if (position < 0) return 0;
  const int32_t own = position / page_tokens;
  return own < max_pages ? own + 1 : max_pages;
}

// The latest of `tokens` positions; negative if all are padding.
constexpr int32_t last_position(const int32_t* positions, int32_t first_token, int32_t tokens) {
  int32_t last = -1;
  for (int32_t t = first_token; t < first_token + tokens; ++t) {
    last = positions[t] > last ? positions[t] : last;
  }
  return last;
}

constexpr int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

constexpr float kMinusInfinity = -__builtin_inff();

}  // namespace
}  // namespace attention_kernels

#endif
