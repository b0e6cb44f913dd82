/* Draws one id a row: temperature, top-k, top-p, min-p, then inverse CDF by ascending id with a
 * Philox number that depends on seed and position only. Ties and order: docs/sampling.md
 * On CUDA three launches with the same parameters: sampling_facts, sampling_weights, sampling. */
#ifndef DENSE_KERNELS_SAMPLING_H
#define DENSE_KERNELS_SAMPLING_H

#include <stdint.h>

/* kernel sampling SamplingParams block=512 */
/* kernel sampling_facts SamplingParams block=512 cpu=sampling */
/* kernel sampling_weights SamplingParams block=512 cpu=sampling */
typedef struct SamplingParams {
  const void* logits;      /* r f32 [rows, vocab] row stride below; NaN counts as -inf */
  const void* temperature; /* r f32 [rows] not above 0 = argmax */
  const void* top_k;       /* r i32 [rows] not above 0 = off */
  const void* top_p;       /* r f32 [rows] 1 and above = off */
  const void* min_p;       /* r f32 [rows] not above 0 = off */
  const void* seeds;       /* r i64 [rows] key of the generator */
  const void* positions;   /* r i32 [rows] counter of the generator; negative = padding row */
  void* ids;               /* w i32 [rows] -1 for a padding row */
  void* logprobs;          /* w f32 [rows] log-softmax of the untempered logits at the id */
  void* workspace;         /* w u8 [bytes] scratch: on the CPU ids, then weights, a slot; CUDA: plan */
  int64_t logits_stride;   /* elements from one row of logits to the next */
  int32_t rows;            /* rows */
  int32_t vocab;           /* columns */
  int32_t slots;           /* CPU: rows of scratch; slot s works on rows s, s + slots, ... */
  int32_t first_row;       /* CUDA: row of the launch's first; 0 on the CPU */
} SamplingParams;

#endif
