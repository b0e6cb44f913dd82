// Router top-k on CUDA, for any recipe: one warp a token, its rows in shared memory of its own.
// Steps, ties, NaN and rounding are those of cpu/topk.cpp, to the bit. k rounds of a maximum over
// the keys.
//
// topk_f32_rows (device/topk_rows.cuh) is for up to 128 experts without softmax and groups: loops
// here stay rolled, for a step reads its code cold, but all recipes in one entry are still much of
// it.
#include <math_constants.h>

#include "dense_kernels/cuda/convert.cuh"
#include "dense_kernels/cuda/pdl.cuh"
#include "device/topk_rank.cuh"
#include "device/topk_recipe.cuh"
#include "device/topk_rows.cuh"
#include "device/topk_scores.cuh"
#include "moe_kernels/topk.h"

namespace moe_kernels::cuda {
namespace {

using dense_kernels::cuda::Bf16;
using dense_kernels::cuda::to_f32;
constexpr int kMaxChosen = 32;

// One token's working set in shared memory; the plan's bytes a warp.
struct Row {
  uint64_t* groups;  // [groups] ranks of the groups, only with more than one
  float* scores;     // [experts]
  float* keys;       // [experts] logits at first
  float* weights;    // [kMaxChosen]
  int32_t* ids;      // [kMaxChosen]
};

__device__ __forceinline__ Row row_of_warp(const TopkParams& p, uint64_t* shared) {
  const int groups = p.groups > 1 ? p.groups : 0;
  // 64 bits each: a group, two floats of an expert, a weight and an id of a choice
  const int words = groups + p.experts + kMaxChosen;
  uint64_t* own = shared + static_cast<int64_t>(warp_id()) * words;
  float* floats = reinterpret_cast<float*>(own + groups);
  float* weights = floats + 2 * p.experts;
  return {own, floats, floats + p.experts, weights,
          reinterpret_cast<int32_t*>(weights + kMaxChosen)};
}

// Logits into keys; whether this lane saw a NaN.
template <typename T>
__device__ __forceinline__ bool load_logits(const TopkParams& p, int64_t token, const Row& row) {
  const T* logits = static_cast<const T*>(p.logits) + token * p.experts;
  bool has_nan = false;
#pragma unroll 1
  for (int e = lane_id(); e < p.experts; e += kWarp) {
    const float z = to_f32(logits[e]);
    has_nan |= z != z;
    row.keys[e] = z;
  }
  __syncwarp();
  return has_nan;
}

__device__ __forceinline__ void score_row(const TopkParams& p, const Row& row) {
  if (p.score == kSoftmax) {
    softmax(row.keys, row.scores, p.experts);
    return;
  }
#pragma unroll 1
  for (int e = lane_id(); e < p.experts; e += kWarp) {
    const float z = row.keys[e];
    float score = z;
    if (p.score == kSigmoid) score = sigmoid_rounded(z);
    if (p.score == kSqrtSoftplus) score = sqrt_softplus(z);
    row.scores[e] = score;
  }
  __syncwarp();
}

// key = score (or logit) + bias.
__device__ __forceinline__ void make_keys(const TopkParams& p, const Row& row) {
  const float* bias = static_cast<const float*>(p.bias);
#pragma unroll 1
  for (int e = lane_id(); e < p.experts; e += kWarp) {
    const float base = p.by_logit ? row.keys[e] : row.scores[e];
    row.keys[e] = bias != nullptr ? __fadd_rn(base, bias[e]) : base;
  }
  __syncwarp();
}

// A group's worth: its largest key, or the sum of its two largest (its only key if it has one).
__device__ __forceinline__ float group_worth(const TopkParams& p, const float* keys, int size) {
  float first = -CUDART_INF_F;
  float second = -CUDART_INF_F;
#pragma unroll 1
  for (int e = 0; e < size; ++e) {
    const float key = keys[e];
    if (key > first) {
      second = first;
      first = key;
    } else if (key > second) {
      second = key;
    }
  }
  return p.group_rule == kTwoLargestKeys && size > 1 ? __fadd_rn(first, second) : first;
}

// Makes the experts outside the best groups unselectable. Biased keys may be negative, so their
// mask is -inf; the softmax rule masks with 0. A masked expert weighs 0.
__device__ __forceinline__ void mask_groups(const TopkParams& p, const Row& row) {
  const int size = p.experts / p.groups;
#pragma unroll 1
  for (int g = lane_id(); g < p.groups; g += kWarp) {
    row.groups[g] = rank_of(group_worth(p, row.keys + g * size, size), g, false);
  }
  __syncwarp();
  const float mask = p.group_rule == kTwoLargestKeys ? -CUDART_INF_F : 0.0f;
#pragma unroll 1
  for (int g = lane_id(); g < p.groups; g += kWarp) {
    const uint64_t own = row.groups[g];
    int better = 0;
#pragma unroll 1
    for (int other = 0; other < p.groups; ++other) better += row.groups[other] > own;
    if (better < p.kept_groups) continue;
#pragma unroll 1
    for (int e = g * size; e < (g + 1) * size; ++e) {
      if (row.keys[e] == row.keys[e]) row.keys[e] = mask;  // NaN stays the very last choice
      row.scores[e] = 0.0f;
    }
  }
  __syncwarp();
}

// The k largest ranks, best first: each round takes the largest below the last.
__device__ __forceinline__ void choose(const TopkParams& p, const Row& row) {
  uint64_t last = 0;
#pragma unroll 1
  for (int j = 0; j < p.k; ++j) {
    uint64_t best = 0;
#pragma unroll 1
    for (int e = lane_id(); e < p.experts; e += kWarp) {
      const uint64_t rank = rank_of(row.keys[e], e, p.nan_first != 0);
      if ((j == 0 || rank < last) && rank > best) best = rank;
    }
    last = warp_max_rank(best);
    if (lane_id() == 0) row.ids[j] = id_of(last);
  }
  __syncwarp();
}

// Sum of the chosen weights in order, the same in every lane.
__device__ __forceinline__ float divisor_of(const TopkParams& p, const float* weights) {
  float sum = 0.0f;
#pragma unroll 1
  for (int j = 0; j < p.k; ++j) sum = __fadd_rn(sum, weights[j]);
  return divisor_of_sum(p, sum);
}

// Weights of the chosen experts from their raw scores; the bias is never subtracted back out. Lane
// j has the weight of choice j.
__device__ __forceinline__ float weigh(const TopkParams& p, const Row& row) {
  const int j = lane_id();
  if (j < p.k) row.weights[j] = row.scores[row.ids[j]];
  __syncwarp();
  if (p.normalize == kSoftmaxOfChosen) softmax(row.weights, row.weights, p.k);
  float weight = j < p.k ? row.weights[j] : 0.0f;
  if (!p.nan_first && weight != weight) weight = 0.0f;
  if (p.normalize == kSum || p.normalize == kFlooredSum) {
    __syncwarp();
    if (j < p.k) row.weights[j] = weight;
    __syncwarp();
    weight = __fdiv_rn(weight, divisor_of(p, row.weights));
  }
  return __fmul_rn(weight, p.scale);
}

// Only the low half of the weight's word may reach the pack: a sign-extended negative weight would
// overwrite the id.
__device__ __forceinline__ void write_slot(const TopkParams& p, int64_t slot, int32_t id,
                                           float weight) {
  static_cast<int32_t*>(p.ids)[slot] = id;
  static_cast<float*>(p.weights)[slot] = weight;
  if (p.packed == nullptr) return;
  const uint32_t low = dense_kernels::cuda::round_to<Bf16>(weight).bits;
  static_cast<uint32_t*>(p.packed)[slot] = static_cast<uint32_t>(id) << 16 | low;
}

template <typename T>
__device__ __forceinline__ void route_token(const TopkParams& p, int64_t token, const Row& row) {
  const int64_t slots = p.k + p.shared;
  // 1. scores
  const bool has_nan = load_logits<T>(p, token, row);
  if (p.status != nullptr && has_nan) *static_cast<volatile int32_t*>(p.status) = 1;
  score_row(p, row);
  // 2. keys, experts outside the best groups masked
  make_keys(p, row);
  if (p.groups > 1) mask_groups(p, row);
  // 3. the k best
  choose(p, row);
  // 4. weights of the raw scores, normalised, scaled
  const float weight = weigh(p, row);
  if (lane_id() < p.k) write_slot(p, token * slots + lane_id(), row.ids[lane_id()], weight);
  // 5. shared experts behind the routed ones, outside of the normalisation
#pragma unroll 1
  for (int j = lane_id(); j < p.shared; j += kWarp) {
    write_slot(p, token * slots + p.k + j, p.experts + j, p.shared_weight);
  }
  __syncwarp();  // the row is used again
}

template <typename T>
__device__ __forceinline__ void route_tokens(const TopkParams& p, uint64_t* shared) {
  constexpr int kSector = 32 / sizeof(float);
#pragma unroll 1
  for (int e = threadIdx.x * kSector; p.bias != nullptr && e < p.experts;
       e += blockDim.x * kSector) {
    dense_kernels::cuda::prefetch(static_cast<const float*>(p.bias) + e);
  }
  dense_kernels::cuda::wait_and_trigger();
  const Row row = row_of_warp(p, shared);
  const int32_t* positions = static_cast<const int32_t*>(p.positions);
  const int64_t warps = int64_t{gridDim.x} * (blockDim.x / kWarp);
  int64_t token = int64_t{blockIdx.x} * (blockDim.x / kWarp) + warp_id();
#pragma unroll 1
  for (; token < p.tokens; token += warps) {
    if (positions == nullptr || positions[token] >= 0) {
      route_token<T>(p, token, row);
      continue;
    }
    const int64_t slots = p.k + p.shared;
#pragma unroll 1
    for (int j = lane_id(); j < slots; j += kWarp) write_slot(p, token * slots + j, -1, 0.0f);
  }
}

__device__ __forceinline__ void route_four(const TopkParams& p, TopkRow* rows) {
  const int64_t first = int64_t{blockIdx.x} * (blockDim.x / kWarp);
  const float bias = bias_of_thread(p);
  dense_kernels::cuda::wait_and_trigger();
  const TopkSlot slot = route_rows(p, tokens_from(p, first), bias, rows);
  const int64_t token = first + warp_id();
  const int slots = p.k + p.shared;
  if (token >= p.tokens || lane_id() >= slots) return;
  write_slot(p, token * slots + lane_id(), slot.id, slot.weight);
}

}  // namespace
}  // namespace moe_kernels::cuda

// ---- entries: dynamic shared memory as row_of_warp cuts it -------------------------------------
extern "C" __global__ void __launch_bounds__(256) topk_f32(__grid_constant__ const TopkParams p) {
  extern __shared__ uint64_t shared[];
  moe_kernels::cuda::route_tokens<float>(p, shared);
}

extern "C" __global__ void __launch_bounds__(256) topk_bf16(__grid_constant__ const TopkParams p) {
  extern __shared__ uint64_t shared[];
  moe_kernels::cuda::route_tokens<dense_kernels::cuda::Bf16>(p, shared);
}

// Four tokens a block.
extern "C" __global__ void __launch_bounds__(128)
    topk_f32_rows(__grid_constant__ const TopkParams p) {
  __shared__ moe_kernels::cuda::TopkRow rows[4];
  moe_kernels::cuda::route_four(p, rows);
}
