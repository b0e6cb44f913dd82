// Scores of blocks for a few query rows. Included by one file per instruction set, after its vector
// header. A score depends on its own row and block only: not on batch, chunk or threads.

#include "score.h"
#include "vector/exponential.h"
#include "vector/key_tile.h"

namespace attention_kernels {
namespace {

struct Scoring {
  Scoring(const BlockScoresParams& params, const ScoreRows& score_rows)
      : p(params), rows(score_rows), padded(padded_to_lanes(params.index_dim)) {}

  const BlockScoresParams& p;
  const ScoreRows& rows;
  int padded;                    // index_dim up to whole vectors
  float largest[kMaxRows];       // of the block's scores so far, per row
  float sums[kMaxRows];          // of exp(score - largest), for log_sum_exp
  alignas(64) float q[kRowFloats];
  alignas(64) float keys[kTileKeys * kMaxDims];
};

// A NaN score counts as -inf: `larger` gives its second argument then.
inline void take_largest(float* largest, const float* scores, int end) {
  Vec highest = splat(*largest);
  for (int j = 0; j < end; j += kLanes) highest = larger(load(scores + j), highest);
  *largest = largest_lane(highest);
}

// Adds exp(score * scale) of a tile to a row's sum, relative to the running maximum.
inline void take_sum(float* largest, float* sum, float* scores, int end, float scale) {
  for (int j = 0; j < end; ++j) {
    const float scaled = scores[j] * scale;
    scores[j] = scaled == scaled ? scaled : kMinusInfinity;
  }
  const float before = *largest;
  take_largest(largest, scores, end);
  if (*largest == kMinusInfinity || *largest == -kMinusInfinity) return;
  float change[kLanes];
  store(change, exp_nonpositive(splat(before - *largest)));
  Vec total = splat(0.0f);
  for (int j = 0; j < end; j += kLanes) {
    total = add(total, exp_nonpositive(sub(load(scores + j), splat(*largest))));
  }
  *sum = *sum * change[0] + sum_of_lanes(total);
}

template <int kRows>
inline void score_tile(Scoring& s, int row, int count) {
  alignas(64) float scores[kRows][kTileKeys];
  const int end = padded_to_lanes(count);
  dot_tile<kRows>(scores, s.q + row * s.padded, s.keys, count, s.padded);
  for (int r = 0; r < kRows; ++r) {
    for (int j = count; j < end; ++j) scores[r][j] = kMinusInfinity;
    if (s.p.log_sum_exp) {
      take_sum(&s.largest[row + r], &s.sums[row + r], scores[r], end, s.p.scale);
    } else {
      take_largest(&s.largest[row + r], scores[r], end);
    }
  }
}

inline void score_page(Scoring& s, int32_t block, int32_t page, int heads) {
  const BlockScoresParams& p = s.p;
  const int32_t* positions = p.positions + s.rows.first_token;
  for (int first = 0; first < p.page_tokens; first += kTileKeys) {
    const int64_t start = static_cast<int64_t>(block) * p.page_tokens + first;
    const int tile_keys = smaller(p.page_tokens - first, kTileKeys);
    const int most = visible_keys(
        last_position(p.positions, s.rows.first_token, s.rows.tokens), start, tile_keys);
    if (most == 0) return;
    const int64_t slot = static_cast<int64_t>(page) * p.page_tokens + first;
    const Rows source = {slot * p.index_dim, p.index_dim, most, p.index_dim};
    widen_rows(s.keys, p.index_keys, source, s.padded, s.rows.is_f32);
    for (int t = 0; t < s.rows.tokens; ++t) {
      const int count = visible_keys(positions[t], start, tile_keys);
      if (count == 0) continue;
      int head = 0;
      for (; head + kRowTile <= heads; head += kRowTile) {
        score_tile<kRowTile>(s, t * heads + head, count);
      }
      for (; head < heads; ++head) score_tile<1>(s, t * heads + head, count);
    }
  }
}

// Blocks of the call for index heads [first_head, +heads) of its tokens.
inline void score_heads(Scoring& s, int first_head, int heads) {
  const BlockScoresParams& p = s.p;
  const int rows = s.rows.tokens * heads;
  for (int row = 0; row < rows; ++row) {
    const int64_t token = s.rows.first_token + row / heads;
    const int64_t head = first_head + row % heads;
    const int64_t offset = (token * p.index_heads + head) * p.index_dim;
    widen_row(s.q + row * s.padded, p.index_q, offset, p.index_dim, s.padded, s.rows.is_f32);
  }
  const int64_t sequence = p.sequence_ids[s.rows.first_token];
  const bool known = sequence >= 0 && sequence < p.sequences;
  for (int32_t i = 0; i < s.rows.blocks; ++i) {
    const int32_t block = s.rows.first_block + i;
    const int32_t page = known ? p.page_table[sequence * p.max_pages + block] : -1;
    for (int row = 0; row < rows; ++row) {
      s.largest[row] = kMinusInfinity;
      s.sums[row] = 0.0f;
    }
    if (page >= 0 && page < p.pages) score_page(s, block, page, heads);
    for (int row = 0; row < rows; ++row) {
      const int64_t token = s.rows.first_token - p.first_token + row / heads;
      const int64_t head = first_head + row % heads;
      const float sum = s.sums[row];
      const float score = p.log_sum_exp && sum > 0.0f ? s.largest[row] + __builtin_logf(sum)
                                                      : s.largest[row];
      p.scores[(token * p.index_heads + head) * p.max_pages + block] = score;
    }
  }
}

inline void score_rows_body(const BlockScoresParams& p, const ScoreRows& rows) {
  Scoring s(p, rows);
  const int most = rows_per_call(p.index_dim) / rows.tokens;
  for (int head = 0; head < p.index_heads; head += most) {
    score_heads(s, head, smaller(p.index_heads - head, most));
  }
}

}  // namespace
}  // namespace attention_kernels
