// The scoring of blocks, cut for threads by block_scores.cpp, done once per instruction set.
#ifndef ATTENTION_KERNELS_SCORE_H
#define ATTENTION_KERNELS_SCORE_H

#include "attention_kernels/block_scores.h"
#include "cuda_runtime/abi.h"

namespace attention_kernels {

// Tokens [first_token, +tokens) of one sequence and blocks [first_block, +blocks) of it;
// tokens * index_heads <= rows_per_call(index_dim) unless tokens is 1.
struct ScoreRows {
  int32_t first_token, tokens, first_block, blocks;
  bool is_f32;
};

void score_rows_baseline(const BlockScoresParams& p, const ScoreRows& rows);
void score_rows_avx2(const BlockScoresParams& p, const ScoreRows& rows);
void score_rows_avx512(const BlockScoresParams& p, const ScoreRows& rows);

}  // namespace attention_kernels

#endif
