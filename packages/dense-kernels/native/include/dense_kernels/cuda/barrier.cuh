// Barriers in shared memory (mbarrier) of sm_90 and later: a phase ends when as many arrivals have
// come as the barrier was made for. Who waits names the parity of the phase: 0 of the first one.
// Before the first has ended, the one before it, of parity 1, counts as over. A barrier has 8 bytes
// and is named by its address in shared memory.
#ifndef DENSE_KERNELS_CUDA_BARRIER_CUH
#define DENSE_KERNELS_CUDA_BARRIER_CUH

#include <stdint.h>

namespace dense_kernels::cuda {

#if __CUDA_ARCH__ >= 900

// By one thread; the others see it behind the block's next barrier.
__device__ __forceinline__ void make_barrier(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;"
               :
               : "r"(barrier), "r"(arrivals)
               : "memory");
}

__device__ __forceinline__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(barrier) : "memory");
}

// One arrival, as soon as all copies that this thread has asked for by cp.async are there.
__device__ __forceinline__ void arrive_after_copies(uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];"
               :
               : "r"(barrier)
               : "memory");
}

__device__ __forceinline__ void wait_for_phase(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred over;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared.b64 over, [%0], %1;\n"
      "@!over bra again;\n"
      "}"
      :
      : "r"(barrier), "r"(parity)
      : "memory");
}

#endif

}  // namespace dense_kernels::cuda

#endif
