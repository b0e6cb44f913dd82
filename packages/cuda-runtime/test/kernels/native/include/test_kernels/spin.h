/* Keeps a thread busy for a while. */
#ifndef TEST_KERNELS_SPIN_H
#define TEST_KERNELS_SPIN_H

#include <stdint.h>

/* kernel test_spin SpinParams block=1 */
typedef struct SpinParams {
  int32_t* done;         /* w? i32 [1] becomes 1 at the end */
  int64_t microseconds;  /* how long */
} SpinParams;

#endif
