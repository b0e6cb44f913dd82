/* y = a + b. */
#ifndef TEST_KERNELS_ADD_H
#define TEST_KERNELS_ADD_H

#include <stdint.h>

/* kernel test_add AddParams block=256 */
typedef struct AddParams {
  const float* a; /* r f32 [count] */
  const float* b; /* r? f32 [count] null = zeros */
  float* y;       /* w f32 [count] */
  int64_t count;  /* elements */
  float scale;    /* the sum is multiplied by it */
} AddParams;

#endif
