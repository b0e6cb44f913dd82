/* Weighted sum of the experts' outputs per token, and a shared expert's output behind it. Order and
 * rounding: docs/finalize.md.
 * Read by the C++ compiler, by nvcc and by the manifest generator. */
#ifndef MOE_KERNELS_FINALIZE_H
#define MOE_KERNELS_FINALIZE_H

#include <stdint.h>

/* kernel finalize_f32 FinalizeParams block=256 pdl=waits,triggers */
/* kernel finalize_bf16 FinalizeParams block=256 pdl=waits,triggers */
typedef struct FinalizeParams {
  const void* expert_out; /* r bf16|f32 [tokens * k, hidden] down projections in permuted order */
  const void* slots;      /* r i32 [tokens, k] (token, slot) -> permuted row; others skipped */
  const void* weights;    /* r f32 [tokens, k] router weights */
  const void* addend;     /* r? bf16|f32 [tokens, hidden] added to the rounded sum; null: nothing */
  void* out;              /* w bf16|f32 [tokens, hidden] zeros where no slot is local */
  int32_t tokens;         /* rows of out */
  int32_t k;              /* slots per token */
  int32_t hidden;         /* columns */
  int32_t settled;        /* 1 = slots and weights are complete before the predecessors are waited for */
  float scale;            /* multiplied into the finished sum before rounding */
} FinalizeParams;

#endif
