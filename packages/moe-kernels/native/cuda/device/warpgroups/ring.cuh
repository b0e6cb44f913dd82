// What the warps of the experts' products of warpgroups share: a ring of stages, each with 64
// columns of 128 weight rows and of 128 rows of activations, and the results of a unit on their way
// out.
#ifndef MOE_KERNELS_CUDA_DEVICE_WARPGROUPS_RING_CUH
#define MOE_KERNELS_CUDA_DEVICE_WARPGROUPS_RING_CUH

#include "dense_kernels/cuda/barrier.cuh"
#include "dense_kernels/cuda/wgmma.cuh"
#include "../expert_tiled.cuh"

namespace moe_kernels::cuda {

constexpr int kWarpgroup = 128;               // threads; one of a block copies
constexpr int kMultiplying = 2 * kWarpgroup;  // threads that multiply, a row tile a warp

template <typename W>
constexpr int kWgmmaStages = W::kIsScaled ? 6 : 5;

template <typename W, typename Problem>
struct WgmmaShared {
  TiledStage<W> stage[kWgmmaStages<W>];  // from a multiple of 1024 bytes on
  TiledResults<Problem> results;
  uint64_t full[kWgmmaStages<W>];   // a stage is there: an arrival of each copying thread
  uint64_t empty[kWgmmaStages<W>];  // it is used up: one of each thread that multiplies

  __device__ __forceinline__ uint32_t full_at(uint32_t number) const {
    return dense_kernels::cuda::shared_address(full) + number * sizeof(uint64_t);
  }
  __device__ __forceinline__ uint32_t empty_at(uint32_t number) const {
    return dense_kernels::cuda::shared_address(empty) + number * sizeof(uint64_t);
  }
};

// A place in the ring, which goes round.
template <typename W>
struct WgmmaPlace {
  uint32_t stage = 0;
  uint32_t parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage < kWgmmaStages<W>) return;
    stage = 0;
    parity ^= 1;
  }
};

}  // namespace moe_kernels::cuda

#endif
