/* Two launches meet: each says that it is there and waits for the other one. */
#ifndef TEST_KERNELS_RENDEZVOUS_H
#define TEST_KERNELS_RENDEZVOUS_H

#include <stdint.h>

/* kernel test_rendezvous RendezvousParams block=1 */
typedef struct RendezvousParams {
  const int32_t* flags;        /* r i32 [2] arrivals; declared read since the two sides touch them
                                  atomically at the same time on purpose */
  int32_t* met;                /* w i32 [1] 1 when the other one came in time, else 0 */
  int32_t side;                /* 0 or 1 */
  int32_t timeout_ms;          /* gives up after this long */
} RendezvousParams;

#endif
