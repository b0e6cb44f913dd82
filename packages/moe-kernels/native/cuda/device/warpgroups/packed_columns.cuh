// Activations in the order in which the products of warpgroups want them: within each group of
// columns (W::kGroup, expert_weights.cuh), the columns of a step are neighbours, so that 16
// neighbouring bytes are one chunk of a row of b (dense_kernels/cuda/wgmma.cuh). Two bf16 are a
// word.
#ifndef MOE_KERNELS_CUDA_DEVICE_WARPGROUPS_PACKED_COLUMNS_CUH
#define MOE_KERNELS_CUDA_DEVICE_WARPGROUPS_PACKED_COLUMNS_CUH

#include <stdint.h>

#include "../expert_weights.cuh"

namespace moe_kernels::cuda {

// The word that lies at `place`: lane q of a quad has words q * kLaneWords and on, and word j of
// each lane go together.
template <typename W>
__device__ __forceinline__ int word_at(int place) {
  return place % 4 * kLaneWords<W> + place / 4;
}

}  // namespace moe_kernels::cuda

#endif
