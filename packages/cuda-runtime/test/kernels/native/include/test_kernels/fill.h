/* Writes one value everywhere. */
#ifndef TEST_KERNELS_FILL_H
#define TEST_KERNELS_FILL_H

#include <stdint.h>

/* kernel test_fill FillParams block=256 */
typedef struct FillParams {
  int32_t* y;    /* w i32 [count] every element becomes value */
  int32_t count; /* elements */
  int32_t value; /* what is written */
} FillParams;

#endif
