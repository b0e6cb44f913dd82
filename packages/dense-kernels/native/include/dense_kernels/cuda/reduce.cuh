// Sums and maxima over a warp and a block, in one fixed order: the same inputs give the same bits.
// Every thread of the warp or block calls them, and every thread gets the result.
#ifndef DENSE_KERNELS_CUDA_REDUCE_CUH
#define DENSE_KERNELS_CUDA_REDUCE_CUH

#include <stdint.h>

namespace dense_kernels::cuda {

constexpr int kWarp = 32;
constexpr uint32_t kAllLanes = 0xffffffffu;

__device__ __forceinline__ int lane_id() { return threadIdx.x % kWarp; }
__device__ __forceinline__ int warp_id() { return threadIdx.x / kWarp; }

struct Sum {
  template <typename T>
  __device__ static T join(T a, T b) {
    return a + b;
  }
};

// A NaN is lost unless all are NaN; callers that must keep it look for it themselves.
struct Max {
  template <typename T>
  __device__ static T join(T a, T b) {
    return a > b ? a : b;
  }
  __device__ static float join(float a, float b) { return fmaxf(a, b); }
};

// Over groups of `kWidth` neighbouring lanes, a power of two.
template <typename Operation, int kWidth = kWarp, typename T>
__device__ __forceinline__ T warp_reduce(T value) {
#pragma unroll
  for (int offset = kWidth / 2; offset > 0; offset /= 2) {
    value = Operation::join(value, __shfl_xor_sync(kAllLanes, value, offset));
  }
  return value;
}

template <typename T>
__device__ __forceinline__ T warp_sum(T value) {
  return warp_reduce<Sum>(value);
}

template <typename T>
__device__ __forceinline__ T warp_max(T value) {
  return warp_reduce<Max>(value);
}

// One-dimensional blocks of whole warps. `scratch` is shared memory for 32 values; it may be used
// again at once, also by the next call.
template <typename Operation, typename T>
__device__ __forceinline__ T block_reduce(T value, T* scratch) {
  const int warps = blockDim.x / kWarp;
  value = warp_reduce<Operation>(value);
  if (warps == 1) return value;
  __syncthreads();  // the last user of scratch is done
  if (lane_id() == 0) scratch[warp_id()] = value;
  __syncthreads();
  T total = scratch[0];
  for (int warp = 1; warp < warps; ++warp) total = Operation::join(total, scratch[warp]);
  return total;
}

template <typename T>
__device__ __forceinline__ T block_sum(T value, T* scratch) {
  return block_reduce<Sum>(value, scratch);
}

template <typename T>
__device__ __forceinline__ T block_max(T value, T* scratch) {
  return block_reduce<Max>(value, scratch);
}

}  // namespace dense_kernels::cuda

#endif
