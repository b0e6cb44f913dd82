// A steady clock for kernels that measure time, without std::chrono's templates.
#pragma once

#include <stdint.h>
#include <time.h>

static inline int64_t monotonic_ns() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

static inline void spin_us(int64_t microseconds) {
  const int64_t end = monotonic_ns() + microseconds * 1000;
  while (monotonic_ns() < end) {
  }
}
