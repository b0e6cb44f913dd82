/* Log-softmax of each row at one given id and at its `count` best ids. docs/top-logprobs.md */
#ifndef DENSE_KERNELS_TOP_LOGPROBS_H
#define DENSE_KERNELS_TOP_LOGPROBS_H

#include <stdint.h>

/* kernel top_logprobs TopLogprobsParams block=1024 */
typedef struct TopLogprobsParams {
  const void* logits;    /* r f32 [rows, vocab] row stride below; NaN counts as -inf */
  const void* ids;       /* r i32 [rows] ids asked for; outside [0, vocab) = padding row */
  void* chosen;          /* w f32 [rows] log-softmax at ids; 0 for a padding row */
  void* best_ids;        /* w? i32 [rows, count] descending, ties to the lower id; null if count = 0 */
  void* best_logprobs;   /* w? f32 [rows, count] beside best_ids; null if count = 0 */
  int64_t logits_stride; /* elements from one row of logits to the next */
  int32_t rows;          /* rows */
  int32_t vocab;         /* columns */
  int32_t count;         /* best ids a row, <= vocab and 256 */
} TopLogprobsParams;

#endif
