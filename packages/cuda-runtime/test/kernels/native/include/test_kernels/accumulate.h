/* y = y * factor + x: shows order, since the result depends on it. */
#ifndef TEST_KERNELS_ACCUMULATE_H
#define TEST_KERNELS_ACCUMULATE_H

#include <stdint.h>

/* kernel test_accumulate AccumulateParams block=256 */
typedef struct AccumulateParams {
  int32_t* y;     /* rw i32 [count] */
  int32_t count;  /* elements */
  int32_t factor; /* multiplies what was there, modulo 2^32 */
  int32_t x;      /* added afterwards, modulo 2^32 */
} AccumulateParams;

#endif
