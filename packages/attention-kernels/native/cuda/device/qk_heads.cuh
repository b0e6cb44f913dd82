// Which head of which tensor of qk_norm_rope a warp, or half of one, has.
#ifndef ATTENTION_KERNELS_CUDA_DEVICE_QK_HEADS_CUH
#define ATTENTION_KERNELS_CUDA_DEVICE_QK_HEADS_CUH

#include "attention_kernels/qk_norm_rope.h"

namespace attention_kernels::cuda {

// One of the four tensors of the launch.
struct Heads {
  const void* in;
  void* out;
  void* cache;  // null: not cached
  const void* weight;
  int64_t stride;
  int32_t heads, dims;
};

// The tensor that holds head `head` of a token, counted over q, k, index q, index k; `head` becomes
// its number there.
__device__ __forceinline__ Heads heads_of(const QkNormRopeParams& p, int32_t& head) {
  if (head < p.heads) return {p.q, p.q_out, nullptr, p.q_weight, p.q_stride, p.heads, p.head_dim};
  head -= p.heads;
  if (head < p.kv_heads) {
    return {p.k, p.k_out, p.k_cache, p.k_weight, p.k_stride, p.kv_heads, p.head_dim};
  }
  head -= p.kv_heads;
  if (head < p.index_heads) {
    return {p.index_q,        p.index_q_out, nullptr,    p.index_q_weight,
            p.index_q_stride, p.index_heads, p.index_dim};
  }
  head -= p.index_heads;
  return {p.index_k,        p.index_k_out, p.index_cache, p.index_k_weight,
          p.index_k_stride, 1,             p.index_dim};
}

}  // namespace attention_kernels::cuda

#endif
