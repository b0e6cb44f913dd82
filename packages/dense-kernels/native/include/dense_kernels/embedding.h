/* Gathers rows of a table by id. An id outside the table, -1 among them, gives a row of zeros:
 * padding rows need no branch, and a wrong id never reads out of bounds. docs/embedding.md */
#ifndef DENSE_KERNELS_EMBEDDING_H
#define DENSE_KERNELS_EMBEDDING_H

#include <stdint.h>

/* kernel embedding_bf16 EmbeddingParams block=256 pdl=waits,triggers */
/* kernel embedding_f32 EmbeddingParams block=256 pdl=waits,triggers */
/* kernel embedding_bf16_to_f32 EmbeddingParams block=256 pdl=waits,triggers */
/* kernel embedding_f32_to_bf16 EmbeddingParams block=256 pdl=waits,triggers */
typedef struct EmbeddingParams {
  const void* table;    /* r bf16|f32 [rows, hidden] row stride below */
  const void* ids;      /* r i32 [tokens] row of the table + first_id, anything else = zeros */
  void* y;              /* w bf16|f32 [tokens, hidden] dense */
  int64_t table_stride; /* elements from one row of the table to the next */
  int32_t tokens;       /* rows of y */
  int32_t rows;         /* rows of the table */
  int32_t hidden;       /* columns */
  int32_t first_id;     /* id of row 0, at least 0 */
} EmbeddingParams;

#endif
