/* Programmatic launch: the first triggers early and writes late; the second waits, or does not. */
#ifndef TEST_KERNELS_PDL_H
#define TEST_KERNELS_PDL_H

#include <stdint.h>

/* kernel test_pdl_first PdlParams block=1 pdl=triggers */
/* kernel test_pdl_second PdlParams block=1 pdl=waits */
/* kernel test_pdl_no_wait PdlParams block=1 pdl=waits */
typedef struct PdlParams {
  const int32_t* x;      /* r? i32 [1] copied to y by the second */
  int32_t* y;            /* w i32 [1] */
  int32_t* started_early; /* w? i32 [1] second: 1 when x did not yet hold value at its start */
  int32_t value;         /* what the first writes to y */
  int32_t microseconds;  /* how long the first works after its trigger */
} PdlParams;

#endif
