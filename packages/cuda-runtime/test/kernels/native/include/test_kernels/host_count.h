/* A host function: counts its calls and stays a while. */
#ifndef TEST_KERNELS_HOST_COUNT_H
#define TEST_KERNELS_HOST_COUNT_H

#include <stdint.h>

/* host test_host_count HostCountParams */
typedef struct HostCountParams {
  int32_t* calls;       /* rw i32 [2] calls so far; the most that ran at once */
  int64_t microseconds; /* how long each call takes */
  int32_t step;         /* added to the calls */
} HostCountParams;

#endif
