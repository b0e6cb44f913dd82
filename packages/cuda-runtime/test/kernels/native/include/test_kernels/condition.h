/* Sets a condition of the running graph from a counter in device memory. */
#ifndef TEST_KERNELS_CONDITION_H
#define TEST_KERNELS_CONDITION_H

#include <stdint.h>

/* kernel test_condition ConditionParams block=1 */
typedef struct ConditionParams {
  int32_t* counter;    /* rw i32 [1] one less at each call */
  uint64_t condition;  /* becomes the counter's value, 0 when it is negative */
} ConditionParams;

#endif
