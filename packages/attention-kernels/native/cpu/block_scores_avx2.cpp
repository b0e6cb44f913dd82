// Block scores, AVX2 + FMA.
#include "vector/avx2.h"

#include "score_body.h"

void attention_kernels::score_rows_avx2(const BlockScoresParams& p, const ScoreRows& rows) {
  score_rows_body(p, rows);
}
