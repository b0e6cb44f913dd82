// Ranks (cpu/body/topk_rank.h) and their maxima over a warp: a key and the lower-id-wins rule in
// one 64-bit integer, so that selection is an integer maximum and never names an id twice.
#ifndef MOE_KERNELS_CUDA_DEVICE_TOPK_RANK_CUH
#define MOE_KERNELS_CUDA_DEVICE_TOPK_RANK_CUH

#include <stdint.h>

#include "dense_kernels/cuda/reduce.cuh"

namespace moe_kernels::cuda {

// Bits whose unsigned order is the order of the floats. -0 and +0 tie. A NaN sorts below -inf, or
// above +inf when `nan_first`.
__device__ __forceinline__ uint32_t ordered_bits(float key, bool nan_first) {
  const uint32_t bits = __float_as_uint(__fadd_rn(key, 0.0f));
  const uint32_t ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return key == key ? ordered : nan_first ? 0xffffffffu : 0u;
}

__device__ __forceinline__ uint64_t rank_of(float key, int id, bool nan_first) {
  const uint64_t high = ordered_bits(key, nan_first);
  return high << 32 | (0xffffffffu - static_cast<uint32_t>(id));
}

__device__ __forceinline__ int id_of(uint64_t rank) {
  return static_cast<int>(0xffffffffu - static_cast<uint32_t>(rank));
}

// The largest of the lanes' ranks, in every lane.
__device__ __forceinline__ uint64_t warp_max_rank(uint64_t rank) {
  const uint32_t high = static_cast<uint32_t>(rank >> 32);
  const uint32_t most = __reduce_max_sync(dense_kernels::cuda::kAllLanes, high);
  const uint32_t low = high == most ? static_cast<uint32_t>(rank) : 0u;
  return uint64_t{most} << 32 | __reduce_max_sync(dense_kernels::cuda::kAllLanes, low);
}

}  // namespace moe_kernels::cuda

#endif
