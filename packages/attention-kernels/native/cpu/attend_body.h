// Online softmax over the pages of a sequence, for a few query rows. Included by one file per
// instruction set, after its vector header.
//
// A query row (token, head) meets its keys in ascending order in tiles of kTileKeys that begin at
// page borders; each tile does: scores, running maximum, exp, running sum, P.V. Nothing in a row
// depends on the other rows of the call, so a result does not depend on batch, chunk or threads.

#include "attend.h"
#include "vector/exponential.h"
#include "vector/key_tile.h"

namespace attention_kernels {
namespace {

// Everything that one call touches, on its stack (192 KiB).
struct Walk {
  Walk(const Attend& attend, const AttendRows& attend_rows)
      : a(attend), rows(attend_rows), padded(padded_to_lanes(attend.head_dim)) {}

  const Attend& a;
  const AttendRows& rows;
  int padded;                      // head_dim up to whole vectors
  float largest[kMaxRows];         // running maximum of the scaled scores, per row
  float sums[kMaxRows][kLanes];    // running sum of exp, per row and lane
  alignas(64) float q[kRowFloats];
  alignas(64) float acc[kRowFloats];  // running sum of exp * v
  alignas(64) float keys[kTileKeys * kMaxDims];
  alignas(64) float values[kTileKeys * kMaxDims];
};

// acc[r] = acc[r] * correction[r] + sum over j of weights[r][j] * values[j], in the order of j.
template <int kRows, int kColumns>
inline void add_values(float* acc, const float (*weights)[kTileKeys], const float* correction,
                       const float* values, int count, int padded) {
  Vec sums[kRows][kColumns];
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) {
      sums[r][c] = mul(load(acc + r * padded + c * kLanes), splat(correction[r]));
    }
  }
  for (int j = 0; j < count; ++j) {
    Vec columns[kColumns];
    for (int c = 0; c < kColumns; ++c) columns[c] = load(values + j * padded + c * kLanes);
    for (int r = 0; r < kRows; ++r) {
      const Vec weight = splat(weights[r][j]);
      for (int c = 0; c < kColumns; ++c) sums[r][c] = fma(weight, columns[c], sums[r][c]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) store(acc + r * padded + c * kLanes, sums[r][c]);
  }
}

// Turns `count` scores of a row into exp(score * scale - new maximum). Returns the factor that
// brings the row's earlier sums to the new maximum. Vectors behind `count` are left out: they would
// add 0.
inline float softmax_row(float* scores, float* largest, float* sums, int count, float scale) {
  const int end = padded_to_lanes(count);
  for (int j = 0; j < end; j += kLanes) {
    store(scores + j, mul(load(scores + j), splat(scale)));
  }
  for (int j = count; j < end; ++j) scores[j] = kMinusInfinity;
  Vec highest = splat(*largest);
  for (int j = 0; j < end; j += kLanes) highest = larger(load(scores + j), highest);
  const float top = largest_lane(highest);
  float change[kLanes] = {1.0f};
  if (*largest != top) store(change, exp_nonpositive(splat(*largest - top)));
  Vec total = mul(load(sums), splat(change[0]));
  for (int j = 0; j < end; j += kLanes) {
    const Vec weight = exp_nonpositive(sub(load(scores + j), splat(top)));
    store(scores + j, weight);
    total = add(total, weight);
  }
  store(sums, total);
  *largest = top;
  return change[0];
}

// One token's rows [row, row + kRows) against the first `count` keys of the tile.
template <int kRows>
inline void attend_tile(Walk& walk, int row, int count) {
  const int padded = walk.padded;
  alignas(64) float scores[kRows][kTileKeys];
  float correction[kRows];
  float* acc = walk.acc + row * padded;
  dot_tile<kRows>(scores, walk.q + row * padded, walk.keys, count, padded);
  for (int r = 0; r < kRows; ++r) {
    correction[r] =
        softmax_row(scores[r], &walk.largest[row + r], walk.sums[row + r], count, walk.a.scale);
  }
  int d = 0;
  for (; d + 4 * kLanes <= padded; d += 4 * kLanes) {
    add_values<kRows, 4>(acc + d, scores, correction, walk.values + d, count, padded);
  }
  for (; d < padded; d += kLanes) {
    add_values<kRows, 1>(acc + d, scores, correction, walk.values + d, count, padded);
  }
}

// Offset in q and out of a row of the call.
inline int64_t row_offset(const Walk& walk, int row) {
  const int64_t token = walk.rows.first_token + row / walk.rows.heads;
  const int64_t head = walk.rows.first_head + row % walk.rows.heads;
  return (token * walk.a.heads + head) * walk.a.head_dim;
}

inline void load_rows(Walk& walk) {
  const Attend& a = walk.a;
  const int padded = walk.padded;
  for (int row = 0; row < walk.rows.tokens * walk.rows.heads; ++row) {
    widen_row(walk.q + row * padded, a.q, row_offset(walk, row), a.head_dim, padded, a.is_f32);
    for (int d = 0; d < padded; ++d) walk.acc[row * padded + d] = 0.0f;
    for (int lane = 0; lane < kLanes; ++lane) walk.sums[row][lane] = 0.0f;
    walk.largest[row] = kMinusInfinity;
  }
}

// Divides by the sums and rounds once. A row that met no key (padding) is zero.
inline void store_rows(const Walk& walk) {
  const Attend& a = walk.a;
  for (int row = 0; row < walk.rows.tokens * walk.rows.heads; ++row) {
    const int64_t offset = row_offset(walk, row);
    const float sum = sum_of_lanes(load(walk.sums[row]));
    const float* acc = walk.acc + row * walk.padded;
    for (int d = 0; d < a.head_dim; ++d) {
      const float value = sum == 0.0f ? 0.0f : acc[d] / sum;
      if (a.is_f32) {
        static_cast<float*>(a.out)[offset + d] = value;
      } else {
        static_cast<uint16_t*>(a.out)[offset + d] = f32_to_bf16(value);
      }
    }
  }
}

inline void attend_page(Walk& walk, int32_t block, int32_t page) {
  const Attend& a = walk.a;
  const AttendRows& rows = walk.rows;
  const int64_t kv_head = rows.first_head / (a.heads / a.kv_heads);
  const int64_t stride = static_cast<int64_t>(a.kv_heads) * a.head_dim;
  const int32_t* positions = a.positions + rows.first_token;
  for (int first = 0; first < a.page_tokens; first += kTileKeys) {
    const int64_t start = static_cast<int64_t>(block) * a.page_tokens + first;
    const int tile_keys = smaller(a.page_tokens - first, kTileKeys);
    int most = 0;
    for (int t = 0; t < rows.tokens; ++t) {
      const int count = visible_keys(positions[t], start, tile_keys);
      most = count > most ? count : most;
    }
    if (most == 0) return;
    const int64_t slot = static_cast<int64_t>(page) * a.page_tokens + first;
    const Rows source = {slot * stride + kv_head * a.head_dim, stride, most, a.head_dim};
    widen_rows(walk.keys, a.k_cache, source, walk.padded, a.is_f32);
    widen_rows(walk.values, a.v_cache, source, walk.padded, a.is_f32);
    for (int t = 0; t < rows.tokens; ++t) {
      const int count = visible_keys(positions[t], start, tile_keys);
      if (count == 0) continue;
      int head = 0;
      for (; head + kRowTile <= rows.heads; head += kRowTile) {
        attend_tile<kRowTile>(walk, t * rows.heads + head, count);
      }
      for (; head < rows.heads; ++head) attend_tile<1>(walk, t * rows.heads + head, count);
    }
  }
}

inline void attend_sequence(Walk& walk) {
  const Attend& a = walk.a;
  const AttendRows& rows = walk.rows;
  const int32_t* table =
      a.page_table + static_cast<int64_t>(a.sequence_ids[rows.first_token]) * a.max_pages;
  const int32_t context = candidate_blocks(
      last_position(a.positions, rows.first_token, rows.tokens), a.page_tokens, a.max_pages);
  const int64_t kv_head = rows.first_head / (a.heads / a.kv_heads);
  const int32_t* chosen =
      a.blocks == nullptr ? nullptr
                          : a.blocks + (kv_head * a.tokens + rows.first_token) * a.topk_blocks;
  const int32_t count = chosen == nullptr ? context : a.topk_blocks;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t block = chosen == nullptr ? i : chosen[i];
    if (block < 0 || block >= context) continue;
    const int32_t page = table[block];
    if (page >= 0 && page < a.pages) attend_page(walk, block, page);
  }
}

inline void attend_rows_body(const Attend& a, const AttendRows& rows) {
  Walk walk(a, rows);
  load_rows(walk);
  const int32_t sequence = a.sequence_ids[rows.first_token];
  if (sequence >= 0 && sequence < a.sequences) attend_sequence(walk);
  store_rows(walk);
}

}  // namespace
}  // namespace attention_kernels
