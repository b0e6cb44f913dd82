// Block scores, AVX-512.
#include "vector/avx512.h"

#include "score_body.h"

void attention_kernels::score_rows_avx512(const BlockScoresParams& p, const ScoreRows& rows) {
  score_rows_body(p, rows);
}
