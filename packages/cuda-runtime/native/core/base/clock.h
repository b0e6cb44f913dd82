// The steady clock of tickets, traces and time-outs.
#pragma once

#include <time.h>

#include <cstdint>

namespace cuda_runtime::core {

inline int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// A hint to the core that this thread waits in a loop.
inline void cpu_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace cuda_runtime::core
