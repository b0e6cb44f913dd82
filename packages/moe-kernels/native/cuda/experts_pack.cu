// Activations in the order of device/warpgroups/packed_columns.cuh: a thread writes 16 bytes and
// reads their four words where they are. Words that a warp reads at a time fill whole sectors;
// where x does not begin at a multiple of 4 bytes, they are read by halves.
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/vector.cuh"
#include "device/warpgroups/packed_columns.cuh"
#include "moe_kernels/experts_pack.h"

namespace moe_kernels::cuda {
namespace {

template <bool kAligned>
__device__ __forceinline__ uint32_t load_word(const uint16_t* x) {
  if constexpr (kAligned) return *reinterpret_cast<const uint32_t*>(x);
  return x[0] | uint32_t{x[1]} << 16;
}

template <typename W, bool kAligned>
__device__ __forceinline__ void pack_chunks(const ExpertsPackParams& p) {
  constexpr int kChunks = W::kGroup / 8;  // of a group
  const uint16_t* x = static_cast<const uint16_t*>(p.x);
  const int64_t threads = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < p.chunks; i += threads) {
    const int place = static_cast<int>(i % kChunks) * 4;
    const uint16_t* group = x + i / kChunks * W::kGroup;
    uint32_t word[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) word[j] = load_word<kAligned>(group + 2 * word_at<W>(place + j));
    dense_kernels::cuda::store16(static_cast<uint4*>(p.packed) + i,
                                 {word[0], word[1], word[2], word[3]});
  }
}

template <typename W>
__device__ __forceinline__ void pack(const ExpertsPackParams& p) {
  dense_kernels::cuda::wait_and_trigger();
  if (dense_kernels::cuda::is_aligned(p.x, 4)) {
    pack_chunks<W, true>(p);
  } else {
    pack_chunks<W, false>(p);
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
