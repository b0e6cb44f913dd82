/* y[i] = i * i, in pieces. */
#ifndef TEST_KERNELS_PARALLEL_H
#define TEST_KERNELS_PARALLEL_H

#include <stdint.h>

/* kernel test_parallel ParallelParams block=256 */
typedef struct ParallelParams {
  int64_t* y;     /* w i64 [count] */
  int64_t count;  /* elements */
  int64_t grain;  /* least elements a piece */
} ParallelParams;

#endif
