/* Log-softmax of each row at one given id and at its `count` best ids. docs/top-logprobs.md
 * On CUDA two launches with the same parameters: top_logprobs_parts, top_logprobs. */
#ifndef DENSE_KERNELS_TOP_LOGPROBS_H
#define DENSE_KERNELS_TOP_LOGPROBS_H

#include <stdint.h>

/* kernel top_logprobs TopLogprobsParams block=512 */
/* kernel top_logprobs_parts TopLogprobsParams block=512 cpu=top_logprobs */
typedef struct TopLogprobsParams {
  const void* logits;    /* r f32 [rows, vocab] row stride below; NaN counts as -inf */
  const void* ids;       /* r i32 [rows] ids asked for; outside [0, vocab) = padding row */
  void* chosen;          /* w f32 [rows] log-softmax at ids; 0 for a padding row */
  void* best_ids;        /* w? i32 [rows, count] descending, ties to the lower id; null if count = 0 */
  void* best_logprobs;   /* w? f32 [rows, count] beside best_ids; null if count = 0 */
  void* workspace;       /* w? u8 [bytes] scratch on CUDA, see plan; null on the CPU */
  int64_t logits_stride; /* elements from one row of logits to the next */
  int32_t rows;          /* rows */
  int32_t vocab;         /* columns */
  int32_t count;         /* best ids a row, <= vocab and 256 */
  int32_t first_row;     /* CUDA: row of the launch's first; 0 on the CPU */
} TopLogprobsParams;

#endif
