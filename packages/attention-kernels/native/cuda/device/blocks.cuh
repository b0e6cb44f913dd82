// Which blocks of a token are candidates, on the device; as native/cpu/vector/tile_limits.h has it.
#ifndef ATTENTION_KERNELS_CUDA_DEVICE_BLOCKS_CUH
#define ATTENTION_KERNELS_CUDA_DEVICE_BLOCKS_CUH

#include <stdint.h>

namespace attention_kernels::cuda {

// Blocks that hold a key for a token at `position`, as far as the page table goes; 0 for padding.
__device__ __forceinline__ int32_t candidate_blocks(int32_t position, int32_t page_tokens,
                                                    int32_t max_pages) {
  if (position < 0) return 0;
  // Unsigned divisions are shorter.
  const uint32_t own = static_cast<uint32_t>(position) / static_cast<uint32_t>(page_tokens);
  return static_cast<int32_t>(own) < max_pages ? static_cast<int32_t>(own) + 1 : max_pages;
}

// Which blocks of the context a warp scores, if grid y and the warps of a block share them.
__device__ __forceinline__ int32_t first_block() {
  return static_cast<int32_t>(blockIdx.y * (blockDim.x / 32) + threadIdx.x / 32);
}
__device__ __forceinline__ int32_t block_stride() {
  return static_cast<int32_t>(gridDim.y * (blockDim.x / 32));
}

constexpr float kMinusInfinity = -__builtin_inff();

}  // namespace attention_kernels::cuda

#endif
