// Router top-k and permute on CUDA in one block: the ids go from the warps that choose them to the
// threads that place them through shared memory, and a launch and a round trip are saved. The bits
// of topk and permute one behind the other.
//
// A step finds this code cold. Launched early, the block has time before its predecessors are done:
// it rehearses with the bias for logits and writes nothing but shared memory, so that the code has
// come when the logits do.
#include "dense_kernels/cuda/pdl.cuh"
#include "device/few_pairs.cuh"
#include "device/topk_rows.cuh"
#include "moe_kernels/topk_permute.h"

namespace moe_kernels::cuda {
namespace {

using dense_kernels::cuda::wait_and_trigger;

__device__ __forceinline__ void route_and_place(const TopkPermuteParams& p, TopkRow* rows) {
  __shared__ PairKeys keys;
  const int slots = p.k + p.shared;
  const PairMaps maps = {static_cast<int32_t*>(p.offsets),
                         static_cast<int32_t*>(p.rows),
                         static_cast<int32_t*>(p.slots),
                         p.tokens * slots,
                         p.expert_offset,
                         p.local_experts};
  const int pair = warp_id() * slots + lane_id();
  const bool has_pair = warp_id() < p.tokens && lane_id() < slots;
  const float bias = bias_of_thread(p);
  pad_keys(maps, keys);
  TopkTokens tokens = {static_cast<const float*>(p.bias), 0, 1, false};
  bool is_real = p.rehearse == 0 || p.bias == nullptr;
#pragma unroll 1
  while (true) {
    if (is_real) {
      wait_and_trigger();
      tokens = tokens_from(p, 0);
    }
    const TopkSlot slot = route_rows(p, tokens, bias, rows);
    if (has_pair) put_key(maps, keys, pair, slot.id);
    if (has_pair && is_real) {
      static_cast<int32_t*>(p.ids)[pair] = slot.id;
      static_cast<float*>(p.weights)[pair] = slot.weight;
    }
    __syncthreads();
    place_pairs(maps, keys, is_real);
    if (is_real) return;
    is_real = true;
  }
}

}  // namespace
}  // namespace moe_kernels::cuda

// A multiple of 128 threads, at least a warp a token. Dynamic shared memory: a TopkRow a token.
extern "C" __global__ void __launch_bounds__(1024)
    topk_permute_f32(__grid_constant__ const TopkPermuteParams p) {
  extern __shared__ moe_kernels::cuda::TopkRow rows[];
  moe_kernels::cuda::route_and_place(p, rows);
}
