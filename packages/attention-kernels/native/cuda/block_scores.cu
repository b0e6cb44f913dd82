// Block scores on CUDA, general kernels: any sizes, both score types.
//
// A warp per block of the context, a lane per key; a token's blocks are spread over the warps of a
// grid that need not cover them. A score depends on its row and block alone. The tensor-core kernel
// for the usual shapes is block_scores_mma.cu.
#include "attention_kernels/block_scores.h"
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/reduce.cuh"
#include "dense_kernels/cuda/vector.cuh"

#include "device/blocks.cuh"

namespace attention_kernels::cuda {
namespace {

using dense_kernels::cuda::Bf16;
using dense_kernels::cuda::kPack;
using dense_kernels::cuda::kWarp;
using dense_kernels::cuda::lane_id;
using dense_kernels::cuda::load_pack;
using dense_kernels::cuda::Pack;
using dense_kernels::cuda::rows_are_aligned;
using dense_kernels::cuda::warp_max;
using dense_kernels::cuda::warp_sum;

// q . k in eight sums, joined in a tree.
template <typename T>
__device__ __forceinline__ float dot(const T* q, const T* k, int32_t dims, bool aligned) {
  float sums[8] = {};
  for (int32_t d = 0; d < dims; d += 8) {
#pragma unroll
    for (int part = 0; part < 8; part += kPack<T>) {
      const Pack<T> a = load_pack(q + d + part, aligned, dims - d - part);
      const Pack<T> b = load_pack(k + d + part, aligned, dims - d - part);
#pragma unroll
      for (int i = 0; i < kPack<T>; ++i) {
        sums[part + i] = fmaf(a.value[i], b.value[i], sums[part + i]);
      }
    }
  }
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

// Largest score, or log of the sum of exp, of the first `count` keys; a NaN score counts as -inf.
template <typename T>
__device__ __forceinline__ float score_keys(const BlockScoresParams& p, const T* q, const T* keys,
                                            int32_t count, bool aligned) {
  float largest = kMinusInfinity;  // of the lane's keys
  float sum = 0.0f;                // of exp(score - largest) of the lane's keys
  for (int32_t key = lane_id(); key < count; key += kWarp) {
    float score = dot(q, keys + static_cast<int64_t>(key) * p.index_dim, p.index_dim, aligned);
    if (!p.log_sum_exp) {
      largest = fmaxf(largest, score);
      continue;
    }
    score *= p.scale;
    const float top = fmaxf(largest, score);
    if (score != score || top == kMinusInfinity || top == -kMinusInfinity) {
      largest = top;
      continue;
    }
    sum = sum * expf(largest - top) + expf(score - top);
    largest = top;
  }
  const float top = warp_max(largest);
  if (!p.log_sum_exp || top == kMinusInfinity || top == -kMinusInfinity) return top;
  const float total = warp_sum(sum * expf(largest - top));
  return total > 0.0f ? top + logf(total) : top;
}

// Grid: x a token of the launch, y a share of its blocks.
template <typename T>
__device__ __forceinline__ void block_scores(const BlockScoresParams& p) {
  const int64_t token = static_cast<int64_t>(p.first_token) + blockIdx.x;
  const int64_t position = p.positions[token];
  const int32_t candidates = candidate_blocks(p.positions[token], p.page_tokens, p.max_pages);
  if (candidates <= p.topk_blocks) return;
  const int64_t sequence = p.sequence_ids[token];
  const bool is_known = sequence >= 0 && sequence < p.sequences;
  const T* q = static_cast<const T*>(p.index_q) + token * p.index_heads * p.index_dim;
  const T* cache = static_cast<const T*>(p.index_keys);
  const bool aligned = rows_are_aligned(q, p.index_dim) && rows_are_aligned(cache, p.index_dim);
  float* scores = p.scores + static_cast<int64_t>(blockIdx.x) * p.index_heads * p.max_pages;
  for (int32_t block = first_block(); block < candidates;
       block += block_stride()) {
    const int64_t page = is_known ? p.page_table[sequence * p.max_pages + block] : -1;
    const int64_t visible = position + 1 - static_cast<int64_t>(block) * p.page_tokens;
    const int32_t count = static_cast<int32_t>(min(visible, static_cast<int64_t>(p.page_tokens)));
    for (int32_t head = 0; head < p.index_heads; ++head) {
      float score = kMinusInfinity;
      if (page >= 0 && page < p.pages) {
        score = score_keys(p, q + static_cast<int64_t>(head) * p.index_dim,
                           cache + page * p.page_tokens * p.index_dim, count, aligned);
      }
      if (lane_id() == 0) scores[static_cast<int64_t>(head) * p.max_pages + block] = score;
    }
  }
}

}  // namespace
}  // namespace attention_kernels::cuda

extern "C" __global__ void __launch_bounds__(128, 8)
    block_scores_bf16(__grid_constant__ const BlockScoresParams p) {
  dense_kernels::cuda::wait_and_trigger();
  attention_kernels::cuda::block_scores<attention_kernels::cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(128, 8)
    block_scores_f32(__grid_constant__ const BlockScoresParams p) {
  dense_kernels::cuda::wait_and_trigger();
  attention_kernels::cuda::block_scores<float>(p);
}
