// Sums of integers over the threads of a block, in thread order.
#ifndef MOE_KERNELS_CUDA_DEVICE_BLOCK_SCAN_CUH
#define MOE_KERNELS_CUDA_DEVICE_BLOCK_SCAN_CUH

#include <stdint.h>

#include "dense_kernels/cuda/reduce.cuh"

namespace moe_kernels::cuda {

// Number of the thread in its block, x fastest. Warps are 32 neighbours.
__device__ __forceinline__ int thread_number() {
  return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

__device__ __forceinline__ int thread_count() {
  return static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
}

__device__ __forceinline__ int32_t warp_sum_through(int32_t value, int lane) {
#pragma unroll
  for (int distance = 1; distance < dense_kernels::cuda::kWarp; distance *= 2) {
    const int32_t before = __shfl_up_sync(dense_kernels::cuda::kAllLanes, value, distance);
    if (lane >= distance) value += before;
  }
  return value;
}

// The sum of `value` over the threads before this one. Called by every thread of a block of whole
// warps; `scratch` is shared memory for 32 values, free again after the caller's next barrier.
__device__ __forceinline__ int32_t block_sum_before(int32_t value, int32_t* scratch) {
  const int thread = thread_number();
  const int lane = thread % dense_kernels::cuda::kWarp;
  const int warp = thread / dense_kernels::cuda::kWarp;
  const int warps = thread_count() / dense_kernels::cuda::kWarp;
  const int32_t through = warp_sum_through(value, lane);
  if (lane == dense_kernels::cuda::kWarp - 1) scratch[warp] = through;
  __syncthreads();
  if (warp == 0) {
    const int32_t sum = lane < warps ? scratch[lane] : 0;
    const int32_t before = warp_sum_through(sum, lane) - sum;
    __syncwarp();
    scratch[lane] = before;
  }
  __syncthreads();
  return scratch[warp] + through - value;
}

}  // namespace moe_kernels::cuda

#endif
