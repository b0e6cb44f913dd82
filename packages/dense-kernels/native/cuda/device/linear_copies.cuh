// How linears for few tokens bring weights and scales to shared memory.
#ifndef DENSE_KERNELS_CUDA_LINEAR_COPIES_CUH
#define DENSE_KERNELS_CUDA_LINEAR_COPIES_CUH

#include <stdint.h>

#include "dense_kernels/cuda/reduce.cuh"
#include "linear_mma.cuh"

namespace dense_kernels::cuda {
namespace {

// As copy16_async, for weights, which a step reads once; brings the other half of its 128 bytes
// too.
__device__ __forceinline__ void copy16_once(void* to, const void* from, uint64_t policy) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2;"
               :
               : "r"(shared_address(to)), "l"(from), "l"(policy)
               : "memory");
}

__device__ __forceinline__ void copy4_async(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"(shared_address(to)), "l"(from)
               : "memory");
}

// Units of which column `first` exists; unsigned, because then the division is a shift.
__device__ __forceinline__ int units_with(const LinearParams& p, int first) {
  return static_cast<uint32_t>(p.in - first + kUnit - 1) / kUnit;
}

// Makes the compiler keep a lane's value instead of computing it anew in each turn of a loop.
template <typename T>
__device__ __forceinline__ void keep(T& value) {
  if constexpr (sizeof(T) == 8) {
    asm volatile("" : "+l"(value));
  } else {
    asm volatile("" : "+r"(value));
  }
}

// The same memory, with its address in registers; the compiler would make it anew for each access.
template <typename T>
__device__ __forceinline__ const T* kept_global(const T* global) {
  size_t address = __cvta_generic_to_global(global);
  keep(address);
  return static_cast<const T*>(__cvta_global_to_generic(address));
}

// The same for shared memory, with the address from another lane: where nvcc 13.0 knows a
// destination to be the same in all lanes but for an offset, it may give copy16_once an addressing
// mode that together with a policy is an illegal instruction on sm_90.
__device__ __forceinline__ char* kept_shared(char* shared) {
  const uint32_t address = __shfl_sync(kAllLanes, shared_address(shared), 0);
  return static_cast<char*>(__cvta_shared_to_generic(address));
}

}  // namespace
}  // namespace dense_kernels::cuda

#endif
