// Activations in the order of device/warpgroups/packed_columns.cuh: a thread writes 16 bytes and
// reads their four words where they are. Words that a warp reads at a time fill whole sectors.
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/vector.cuh"
#include "device/warpgroups/packed_columns.cuh"
#include "moe_kernels/experts_pack.h"

namespace moe_kernels::cuda {
namespace {

template <typename W>
__device__ __forceinline__ void pack(const ExpertsPackParams& p) {
  constexpr int kChunks = W::kGroup / 8;  // of a group
  dense_kernels::cuda::wait_and_trigger();
  const uint32_t* x = static_cast<const uint32_t*>(p.x);
  const int64_t threads = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < p.chunks; i += threads) {
    const int place = static_cast<int>(i % kChunks) * 4;
    const uint32_t* group = x + i / kChunks * (W::kGroup / 2);
    const uint4 chunk = {group[word_at<W>(place)], group[word_at<W>(place + 1)],
                         group[word_at<W>(place + 2)], group[word_at<W>(place + 3)]};
    dense_kernels::cuda::store16(static_cast<uint4*>(p.packed) + i, chunk);
  }
}

}  // namespace
}  // namespace moe_kernels::cuda

// ---- entries: chunks / 256 blocks, or fewer -----------------------------------------------------
extern "C" __global__ void __launch_bounds__(256)
    experts_pack_mxfp8(__grid_constant__ const ExpertsPackParams p) {
  moe_kernels::cuda::pack<moe_kernels::cuda::Mxfp8Weights>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    experts_pack_bf16(__grid_constant__ const ExpertsPackParams p) {
  moe_kernels::cuda::pack<moe_kernels::cuda::Bf16Weights>(p);
}
