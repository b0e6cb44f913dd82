/* y = a + b in fp32, rounded once. y may be a or b. docs/add.md */
#ifndef DENSE_KERNELS_ADD_H
#define DENSE_KERNELS_ADD_H

#include <stdint.h>

/* kernel add_bf16 AddParams block=256 pdl=waits,triggers */
/* kernel add_f32 AddParams block=256 pdl=waits,triggers */
typedef struct AddParams {
  const void* a; /* r bf16|f32 [count] dense */
  const void* b; /* r bf16|f32 [count] dense */
  void* y;       /* w bf16|f32 [count] dense */
  int64_t count; /* elements */
} AddParams;

#endif
