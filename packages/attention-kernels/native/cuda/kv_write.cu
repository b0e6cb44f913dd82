// Copies a step's keys, values and index keys into their cache slots on CUDA: a block per token,
// 16 bytes a thread where the addresses allow it. Bound by memory.
//
// Pure copies, so elements are moved as bits. Slots of one step are distinct, so tokens are
// independent.
#include "attention_kernels/kv_write.h"
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/vector.cuh"

namespace attention_kernels::cuda {
namespace {

using dense_kernels::cuda::is_aligned;
using dense_kernels::cuda::load16;
using dense_kernels::cuda::store16;

// One row, by all threads of the block.
template <typename Bits>
__device__ __forceinline__ void copy_row(Bits* to, const Bits* from, int32_t width) {
  constexpr int32_t kVector = 16 / sizeof(Bits);
  int32_t copied = 0;
  if (is_aligned(to) && is_aligned(from)) {
    copied = width / kVector * kVector;
    for (int32_t i = threadIdx.x * kVector; i < copied; i += blockDim.x * kVector) {
      store16(to + i, load16(from + i));
    }
  }
  for (int32_t i = copied + threadIdx.x; i < width; i += blockDim.x) to[i] = from[i];
}

template <typename Bits>
__device__ __forceinline__ void kv_write(const KvWriteParams& p) {
  for (int64_t token = blockIdx.x; token < p.tokens; token += gridDim.x) {
    const int64_t slot = p.slots[token];
    if (slot < 0 || slot >= p.cache_slots) continue;
    copy_row(static_cast<Bits*>(p.k_cache) + slot * p.width,
             static_cast<const Bits*>(p.k) + token * p.k_stride, p.width);
    copy_row(static_cast<Bits*>(p.v_cache) + slot * p.width,
             static_cast<const Bits*>(p.v) + token * p.v_stride, p.width);
    if (p.index_k != nullptr) {
      copy_row(static_cast<Bits*>(p.index_cache) + slot * p.index_dim,
               static_cast<const Bits*>(p.index_k) + token * p.index_k_stride, p.index_dim);
    }
  }
}

}  // namespace
}  // namespace attention_kernels::cuda

extern "C" __global__ void __launch_bounds__(128)
    kv_write_bf16(__grid_constant__ const KvWriteParams p) {
  dense_kernels::cuda::wait_and_trigger();
  attention_kernels::cuda::kv_write<uint16_t>(p);
}

extern "C" __global__ void __launch_bounds__(128)
    kv_write_f32(__grid_constant__ const KvWriteParams p) {
  dense_kernels::cuda::wait_and_trigger();
  attention_kernels::cuda::kv_write<uint32_t>(p);
}
