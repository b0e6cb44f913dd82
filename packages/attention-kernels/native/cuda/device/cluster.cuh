// Thread-block clusters, sm_90 and later: their barrier, and the shared memory of their blocks.
#ifndef ATTENTION_KERNELS_CUDA_DEVICE_CLUSTER_CUH
#define ATTENTION_KERNELS_CUDA_DEVICE_CLUSTER_CUH

#include "dense_kernels/cuda/mma.cuh"

namespace attention_kernels::cuda {

// Each thread of the cluster comes here, then to cluster_wait(), in turns. What it did before is
// done for all behind the wait.
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Where block `rank` of the cluster has what `own` is in this one.
__device__ __forceinline__ uint32_t address_in_block(const void* own, uint32_t rank) {
  uint32_t address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(address)
      : "r"(dense_kernels::cuda::shared_address(own)), "r"(rank));
  return address;
}

// The float, or two, at an address of address_in_block().
__device__ __forceinline__ float load_of_cluster(uint32_t address) {
  float value;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
  return value;
}

__device__ __forceinline__ float2 load2_of_cluster(uint32_t address) {
  float2 value;
  asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];"
               : "=f"(value.x), "=f"(value.y)
               : "r"(address)
               : "memory");
  return value;
}

}  // namespace attention_kernels::cuda

#endif
