// Rows of a cache page as fp32, and their dot products with rows of queries. Included after one
// vector header. Used by attention (attend_body.h) and by block scores (score_body.h).
#ifndef ATTENTION_KERNELS_VECTOR_KEY_TILE_H
#define ATTENTION_KERNELS_VECTOR_KEY_TILE_H

#include "tile_limits.h"

namespace attention_kernels {
namespace {

inline int padded_to_lanes(int dims) { return (dims + kLanes - 1) / kLanes * kLanes; }

// One row of `dims` elements widened to fp32, zero up to `padded`.
inline void widen_row(float* to, const void* from, int64_t offset, int dims, int padded,
                      bool is_f32) {
  int d = 0;
  if (is_f32) {
    const float* row = static_cast<const float*>(from) + offset;
    for (; d + kLanes <= dims; d += kLanes) store(to + d, load(row + d));
    for (; d < dims; ++d) to[d] = row[d];
  } else {
    const uint16_t* row = static_cast<const uint16_t*>(from) + offset;
    for (; d + kLanes <= dims; d += kLanes) store(to + d, load_bf16(row + d));
    for (; d < dims; ++d) to[d] = bf16_to_f32(row[d]);
  }
  for (; d < padded; ++d) to[d] = 0.0f;
}

// `count` rows of `dims` elements, the first at `offset`, `stride` elements apart.
struct Rows {
  int64_t offset, stride;
  int count, dims;
};

// The rows widened; zero rows up to a multiple of four, so that dot_tile may always take four.
inline void widen_rows(float* to, const void* from, const Rows& rows, int padded, bool is_f32) {
  for (int row = 0; row < rows.count; ++row) {
    const int64_t offset = rows.offset + row * rows.stride;
    widen_row(to + row * padded, from, offset, rows.dims, padded, is_f32);
  }
  for (int i = rows.count * padded; i < (rows.count + 3) / 4 * 4 * padded; ++i) to[i] = 0.0f;
}

// scores[r][j] = q[r] . keys[j] for j < count, and some value up to the next multiple of four. A
// score's order of additions depends on `padded` alone: not on kRows, count or the place of j.
template <int kRows>
inline void dot_tile(float (*scores)[kTileKeys], const float* q, const float* keys, int count,
                     int padded) {
  for (int j = 0; j < count; j += 4) {
    const float* key = keys + j * padded;
    Vec sums[kRows][4];
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < 4; ++c) sums[r][c] = splat(0.0f);
    }
    for (int d = 0; d < padded; d += kLanes) {
      Vec columns[4];
      for (int c = 0; c < 4; ++c) columns[c] = load(key + c * padded + d);
      for (int r = 0; r < kRows; ++r) {
        const Vec row = load(q + r * padded + d);
        for (int c = 0; c < 4; ++c) sums[r][c] = fma(row, columns[c], sums[r][c]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      store_sums(scores[r] + j, sums[r][0], sums[r][1], sums[r][2], sums[r][3]);
    }
  }
}

}  // namespace
}  // namespace attention_kernels

#endif
