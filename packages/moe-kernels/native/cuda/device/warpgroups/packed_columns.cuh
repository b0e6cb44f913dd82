// Activations in the order in which the products of warpgroups want them: within each group of
// columns (W::kGroup, expert_weights.cuh), the columns of a step are neighbours. Word i of a group,
// two bf16 each, lies at packed_word(i), so that 16 neighbouring bytes are one chunk of a row of b
// (dense_kernels/cuda/wgmma.cuh).
#ifndef MOE_KERNELS_CUDA_DEVICE_WARPGROUPS_PACKED_COLUMNS_CUH
#define MOE_KERNELS_CUDA_DEVICE_WARPGROUPS_PACKED_COLUMNS_CUH

#include <stdint.h>

#include "../expert_weights.cuh"

namespace moe_kernels::cuda {

// Lane q of a quad has words q * kLaneWords and on: word j of each lane go together.
template <typename W>
__device__ __forceinline__ int packed_word(int word) {
  return word % kLaneWords<W> * 4 + word / kLaneWords<W>;
}

// The word that lies at `place`.
template <typename W>
__device__ __forceinline__ int word_at(int place) {
  return place % 4 * kLaneWords<W> + place / 4;
}

}  // namespace moe_kernels::cuda

#endif
