/* Rows of logits with the ids that a bit mask forbids at -infinity; the rows are gathered.
 * docs/mask-logits.md */
#ifndef DENSE_KERNELS_MASK_LOGITS_H
#define DENSE_KERNELS_MASK_LOGITS_H

#include <stdint.h>

/* kernel mask_logits_f32 MaskLogitsParams block=256 pdl=waits,triggers */
typedef struct MaskLogitsParams {
  const void* logits;    /* r f32 [rows, vocab] row stride below */
  const void* sources;   /* r i32 [count] row of the logits, anything else = all forbidden */
  const void* mask;      /* r i32 [count, words] bit id % 32 of word id / 32: 1 = allowed */
  void* y;               /* w f32 [count, vocab] dense */
  int64_t logits_stride; /* elements from one row of the logits to the next */
  int32_t count;         /* rows of y */
  int32_t rows;          /* rows of the logits */
  int32_t vocab;         /* columns */
  int32_t words;         /* words of a row of the mask: vocab / 32, rounded up */
} MaskLogitsParams;

#endif
