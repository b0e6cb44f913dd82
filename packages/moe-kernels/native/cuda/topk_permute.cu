// Router top-k and permute on CUDA in one block: the ids go from the warps that choose them to the
// threads that place them through shared memory, and a launch and a round trip are saved. The bits of
// topk and permute one behind the other.
#include "dense_kernels/cuda/pdl.cuh"
#include "device/few_pairs.cuh"
#include "device/topk_rows.cuh"
#include "moe_kernels/topk_permute.h"

namespace moe_kernels::cuda {
namespace {

__device__ __forceinline__ void route_and_place(const TopkPermuteParams& p, TopkRow* rows) {
  __shared__ PairKeys keys;
  const int slots = p.k + p.shared;
  const PairMaps maps = {static_cast<int32_t*>(p.offsets),
                         static_cast<int32_t*>(p.rows),
                         static_cast<int32_t*>(p.slots),
                         p.tokens * slots,
                         p.expert_offset,
                         p.local_experts};
  pad_keys(maps, keys);
  const TopkSlot slot = route_rows(p, 0, rows);
  if (warp_id() < p.tokens && lane_id() < slots) {
    const int pair = warp_id() * slots + lane_id();
    put_key(maps, keys, pair, slot.id);
    static_cast<int32_t*>(p.ids)[pair] = slot.id;
    static_cast<float*>(p.weights)[pair] = slot.weight;
  }
  __syncthreads();
  place_pairs(maps, keys);
}

}  // namespace
}  // namespace moe_kernels::cuda

// A multiple of 128 threads, at least a warp a token. Dynamic shared memory: a TopkRow a token.
extern "C" __global__ void __launch_bounds__(1024)
    topk_permute_f32(__grid_constant__ const TopkPermuteParams p) {
  extern __shared__ moe_kernels::cuda::TopkRow rows[];
  moe_kernels::cuda::route_and_place(p, rows);
}
