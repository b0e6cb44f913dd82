// The test kernels about time on CUDA; each is launched with one thread.
#include "test_kernels/pdl.h"
#include "test_kernels/rendezvous.h"
#include "test_kernels/spin.h"

namespace test_kernels::timing {
__device__ inline int64_t now_ns() {
  int64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__device__ inline void spin_us(int64_t microseconds) {
  const int64_t end = now_ns() + microseconds * 1000;
  while (now_ns() < end) {
  }
}

__device__ inline int32_t read(const int32_t* x) {
  return *const_cast<const volatile int32_t*>(x);
}

__device__ inline void note_start(const PdlParams& p) {
  if (p.started_early != nullptr) *p.started_early = read(p.x) != p.value ? 1 : 0;
}
}  // namespace test_kernels::timing

namespace timing = test_kernels::timing;

extern "C" __global__ void test_spin(__grid_constant__ const SpinParams p) {
  timing::spin_us(p.microseconds);
  if (p.done != nullptr) *p.done = 1;
}

extern "C" __global__ void test_rendezvous(__grid_constant__ const RendezvousParams p) {
  int32_t* flags = const_cast<int32_t*>(p.flags);
  const int32_t arrival = atomicAdd(&flags[p.side], 1) + 1;
  const int64_t end = timing::now_ns() + static_cast<int64_t>(p.timeout_ms) * 1000000;
  *p.met = 0;
  while (timing::now_ns() < end) {
    if (timing::read(&flags[1 - p.side]) >= arrival) {
      *p.met = 1;
      return;
    }
  }
}

extern "C" __global__ void test_pdl_first(__grid_constant__ const PdlParams p) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  timing::spin_us(p.microseconds);
  *const_cast<volatile int32_t*>(p.y) = p.value;
}

extern "C" __global__ void test_pdl_second(__grid_constant__ const PdlParams p) {
  timing::note_start(p);
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  *p.y = timing::read(p.x);
}

extern "C" __global__ void test_pdl_no_wait(__grid_constant__ const PdlParams p) {
  timing::note_start(p);
  *p.y = timing::read(p.x);
}
