/* Writes one element wherever its index says, for tests of what finds writes beside memory. */
#ifndef TEST_KERNELS_OVERRUN_H
#define TEST_KERNELS_OVERRUN_H

#include <stdint.h>

/* kernel test_overrun OverrunParams block=256 */
typedef struct OverrunParams {
  int32_t* y;    /* rw i32 [as many as there are] element `index` becomes value */
  int32_t index; /* of an element, or of what lies behind the last */
  int32_t value; /* what is written */
} OverrunParams;

#endif
