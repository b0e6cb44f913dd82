/* Does nothing. */
#ifndef TEST_KERNELS_EMPTY_H
#define TEST_KERNELS_EMPTY_H

#include <stdint.h>

/* kernel test_empty EmptyParams block=1 */
typedef struct EmptyParams {
  int32_t tag; /* not used */
} EmptyParams;

#endif
