// Top-k of at most 128 experts a token, for latency: little code, few steps one behind the other.
//
// The whole block scores, four tokens and more of them side by side; then a warp a token, four keys
// a lane in registers, takes k times a maximum. Steps, ties, NaN and rounding are those of
// cpu/topk.cpp, to the bit. Any parameters with the fields of TopkParams; no softmax, no groups.
#ifndef MOE_KERNELS_CUDA_DEVICE_TOPK_ROWS_CUH
#define MOE_KERNELS_CUDA_DEVICE_TOPK_ROWS_CUH

#include <stdint.h>

#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/reduce.cuh"
#include "topk_rank.cuh"
#include "topk_recipe.cuh"
#include "topk_scores.cuh"

namespace moe_kernels::cuda {

using dense_kernels::cuda::warp_id;

constexpr int kRowExperts = 128;
constexpr int kLaneExperts = kRowExperts / kWarp;

// A token in shared memory. An order of 0 is no expert, or one that has been chosen.
struct TopkRow {
  float scores[kRowExperts];
  uint32_t orders[kRowExperts];
};

// What a lane writes: slot `lane` of its warp's token.
struct TopkSlot {
  int32_t id;
  float weight;
};

// Of a token that is only there to fill the batch, or that does not exist: -1.
template <typename Params>
__device__ __forceinline__ int32_t position_of(const Params& p, int64_t token) {
  if (token >= p.tokens) return -1;
  return p.positions != nullptr ? static_cast<const int32_t*>(p.positions)[token] : 0;
}

// The bias of the one expert that a thread scores; 0 changes no order.
template <typename Params>
__device__ __forceinline__ float bias_of_thread(const Params& p) {
  const int e = threadIdx.x % kRowExperts;
  return p.bias != nullptr && e < p.experts ? static_cast<const float*>(p.bias)[e] : 0.0f;
}

// Tokens of a block; in a rehearsal `logits` are any numbers.
struct TopkTokens {
  const float* logits;
  int64_t first;
  int count;
  bool is_real;
};

// Scores tokens. A block of a multiple of 128 threads.
template <typename Params>
__device__ __forceinline__ void score_rows(const Params& p, const TopkTokens& tokens, float bias,
                                           TopkRow* rows) {
  const int e = threadIdx.x % kRowExperts;
#pragma unroll 1
  for (int row = threadIdx.x / kRowExperts; row < tokens.count; row += blockDim.x / kRowExperts) {
    uint32_t order = 0;
    if (e < p.experts) {
      const float z = tokens.logits[row * p.experts + e];
      const float score = p.score == kSigmoid ? sigmoid_rounded(z) : z;
      const float key = __fadd_rn(p.by_logit ? z : score, bias);
      // A NaN that is chosen last has order 0, numbers have 0x007fffff and more.
      order = max(ordered_bits(key, p.nan_first != 0), 1u);
      rows[row].scores[e] = score;
      if (z != z && p.status != nullptr && tokens.is_real &&
          position_of(p, tokens.first + row) >= 0) {
        *static_cast<volatile int32_t*>(p.status) = 1;
      }
    }
    rows[row].orders[e] = order;
  }
}

// The id of the largest order of all lanes, the lowest of equals.
__device__ __forceinline__ int largest_id(const uint32_t (&orders)[kLaneExperts]) {
  uint32_t most = 0;
#pragma unroll
  for (int i = 0; i < kLaneExperts; ++i) most = max(most, orders[i]);
  most = __reduce_max_sync(kAllLanes, most);
  uint32_t id = 0xffffffffu;
#pragma unroll
  for (int i = kLaneExperts - 1; i >= 0; --i) {
    if (orders[i] == most) id = lane_id() + i * kWarp;
  }
  return static_cast<int>(__reduce_min_sync(kAllLanes, id));
}

// Chooses and weighs, by one warp. Slots behind the k-th are those of shared experts.
template <typename Params>
__device__ __forceinline__ TopkSlot choose_from(const Params& p, const TopkRow& row) {
  const int lane = lane_id();
  uint32_t orders[kLaneExperts];
#pragma unroll
  for (int i = 0; i < kLaneExperts; ++i) orders[i] = row.orders[lane + i * kWarp];
  TopkSlot own = {0, 0.0f};
  float sum = 0.0f;
#pragma unroll 1
  for (int j = 0; j < p.k; ++j) {
    const int id = largest_id(orders);
#pragma unroll
    for (int i = 0; i < kLaneExperts; ++i) {
      if (id == lane + i * kWarp) orders[i] = 0;
    }
    // The raw score: the bias is never subtracted back out.
    float weight = row.scores[id];
    if (!p.nan_first && weight != weight) weight = 0.0f;
    sum = __fadd_rn(sum, weight);
    if (lane == j) own = {id, weight};
  }
  if (p.normalize != kNone) own.weight = __fdiv_rn(own.weight, divisor_of_sum(p, sum));
  own.weight = __fmul_rn(own.weight, p.scale);
  return lane < p.k ? own : TopkSlot{p.experts + lane - p.k, p.shared_weight};
}

// Tokens [first, first + warps) of the call, as far as they exist.
template <typename Params>
__device__ __forceinline__ TopkTokens tokens_from(const Params& p, int64_t first) {
  const int64_t count = min(int64_t{blockDim.x / kWarp}, p.tokens - first);
  const float* logits = static_cast<const float*>(p.logits) + first * p.experts;
  return {logits, first, static_cast<int>(count), true};
}

// Routes a token a warp, whose bias the threads have already asked for. `rows` is shared memory,
// one for each warp; lanes behind the last slot and warps behind the last token get what nobody may
// use.
template <typename Params>
__device__ __forceinline__ TopkSlot route_rows(const Params& p, const TopkTokens& tokens, float bias,
                                               TopkRow* rows) {
  const int64_t token = tokens.first + warp_id();
  // On its way beside the logits. A rehearsal has one token.
  const int32_t position = tokens.is_real ? position_of(p, token) : -warp_id();
  score_rows(p, tokens, bias, rows);
  __syncthreads();
  if (position < 0) return {-1, 0.0f};
  return choose_from(p, rows[warp_id()]);
}

}  // namespace moe_kernels::cuda

#endif
