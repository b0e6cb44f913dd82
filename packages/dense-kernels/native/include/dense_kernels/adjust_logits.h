/* Changes logits before a draw, in place and a row at a time: repetition, frequency and presence
 * penalties by a table of counts, then a sparse list of biases and bans. restore_logits puts the
 * logits back after the draw, gives the log-probability without changes, and counts the id.
 * Order and rounding: docs/adjust-logits.md */
#ifndef DENSE_KERNELS_ADJUST_LOGITS_H
#define DENSE_KERNELS_ADJUST_LOGITS_H

#include <stdint.h>

/* kernel adjust_logits AdjustLogitsParams block=512 */
/* kernel restore_logits AdjustLogitsParams block=512 */
typedef struct AdjustLogitsParams {
  void* logits;             /* rw f32 [rows, vocab] row stride below */
  void* raw;                /* rw f32 [rows, vocab] dense: the logits of changed rows as they were */
  const void* flags;        /* r i32 [rows] 0 = leave the row alone; bit 0 penalties, bit 1 entries */
  void* counts;             /* rw i32 [rows, vocab] 2 x times generated + 1 if the prompt has the id */
  const void* repetition;   /* r f32 [rows] divides positive, multiplies other logits of seen ids */
  const void* frequency;    /* r f32 [rows] taken off for each time the id was generated */
  const void* presence;     /* r f32 [rows] taken off once if the id was generated */
  const void* entry_ids;    /* r i32 [rows, entries] outside [0, vocab) = no entry */
  const void* entry_values; /* r f32 [rows, entries] added; -inf removes the id */
  const void* entry_until;  /* r i32 [rows, entries] holds at positions below this one */
  const void* positions;    /* r i32 [rows] position of the drawn token; negative = padding row */
  const void* ids;          /* r? i32 [rows] restore: drawn ids; null for adjust */
  void* logprobs;           /* rw? f32 [rows] restore: log-softmax of the raw logits at ids; NaN stays */
  int64_t logits_stride;    /* elements from one row of logits to the next */
  int32_t rows;             /* rows */
  int32_t vocab;            /* columns */
  int32_t entries;          /* places of a row's list */
} AdjustLogitsParams;

#endif
