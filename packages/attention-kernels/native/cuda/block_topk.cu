// Choice of blocks on CUDA: a block of threads per token and index head.
//
// Scores are compared as whole numbers in the order of the floats, so the choice is exact and has
// the blocks of the CPU. Few scores: each thread counts how many come before its own. Many: the
// bits of the smallest chosen score are found eight at a time from histograms. Either way the
// chosen blocks are written in ascending order by counting the flags before each.
//
// A decode step finds this code cold: the way of few scores is short, the other is not inlined.
#include "attention_kernels/block_topk.h"
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/reduce.cuh"

#include "device/blocks.cuh"

namespace attention_kernels::cuda {
namespace {

using dense_kernels::cuda::kAllLanes;
using dense_kernels::cuda::kWarp;
using dense_kernels::cuda::lane_id;
using dense_kernels::cuda::warp_id;

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kWarp;
constexpr int kFew = 256;       // scores that are ranked by counting
constexpr int kDigitBits = 8;
constexpr int kDigits = 1 << kDigitBits;
static_assert(kDigits == 2 * kThreads, "a thread scans two digits");

// A score as a number that orders as the scores do: NaN as -inf, -0 as +0.
__device__ __forceinline__ uint32_t sort_key(float score) {
  if (score != score) score = kMinusInfinity;
  const uint32_t bits = __float_as_uint(score == 0.0f ? 0.0f : score);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

struct Shared {
  alignas(16) uint32_t keys[kFew];
  uint32_t chosen[kFew / kWarp];  // which keys of each 32
  int32_t histogram[kDigits];
  int32_t warp_totals[kWarps];
  uint32_t digit;
  int32_t wanted;
};

// Sum of `value` over the threads before this one; `total` over all. Every thread calls it.
__device__ __forceinline__ int32_t count_before(Shared& s, int32_t value, int32_t& total) {
  int32_t inclusive = value;
#pragma unroll
  for (int offset = 1; offset < kWarp; offset *= 2) {
    const int32_t before = __shfl_up_sync(kAllLanes, inclusive, offset);
    if (lane_id() >= offset) inclusive += before;
  }
  __syncthreads();  // the last call has read its totals
  if (lane_id() == kWarp - 1) s.warp_totals[warp_id()] = inclusive;
  __syncthreads();
  int32_t exclusive = inclusive - value;
  total = 0;
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) {
    if (warp < warp_id()) exclusive += s.warp_totals[warp];
    total += s.warp_totals[warp];
  }
  return exclusive;
}

// How many keys come before key i; `quads` of keys, of which those that are none are 0.
__device__ __forceinline__ int32_t rank_of(const uint32_t (&keys)[kFew], int32_t i, int32_t quads) {
  const uint32_t key = keys[i];
  int32_t rank = 0;
#pragma unroll 2
  for (int32_t quad = 0; quad < quads; ++quad) {
    const uint4 k = reinterpret_cast<const uint4*>(keys)[quad];
    // An equal key comes before if it is an earlier one: key - 1 is no less than 0.
    rank += k.x > key - (4 * quad < i ? 1u : 0u);
    rank += k.y > key - (4 * quad + 1 < i ? 1u : 0u);
    rank += k.z > key - (4 * quad + 2 < i ? 1u : 0u);
    rank += k.w > key - (4 * quad + 3 < i ? 1u : 0u);
  }
  return rank;
}

// The best `wanted` of `count` <= kFew scores: those with fewer than `wanted` scores before them.
__device__ __forceinline__ void choose_by_rank(Shared& s, const float* scores, int32_t count,
                                               int32_t wanted, int32_t first, int32_t* blocks) {
  const int32_t quads = (count + 3) / 4;
#pragma unroll 1
  for (int32_t i = threadIdx.x; i < 4 * quads; i += kThreads) {
    s.keys[i] = i < count ? sort_key(scores[i]) : 0u;
  }
  __syncthreads();
#pragma unroll 1
  for (int32_t start = 0; start < count; start += kThreads) {
    const int32_t i = start + threadIdx.x;
    const bool is_chosen = i < count && rank_of(s.keys, i, quads) < wanted;
    const uint32_t chosen = __ballot_sync(kAllLanes, is_chosen);
    if (lane_id() == 0) s.chosen[i / kWarp] = chosen;
  }
  __syncthreads();
#pragma unroll 1
  for (int32_t i = threadIdx.x; i < count; i += kThreads) {
    const uint32_t chosen = s.chosen[i / kWarp];
    const uint32_t own = 1u << lane_id();
    if ((chosen & own) == 0u) continue;
    int32_t before = __popc(chosen & (own - 1u));
#pragma unroll 1
    for (int32_t word = 0; word < i / kWarp; ++word) before += __popc(s.chosen[word]);
    blocks[before] = first + i;
  }
}

// The digit at `shift` of the `wanted`-th largest key among those that agree with `prefix` above
// it; `wanted` becomes its place among those that share the digit too.
__device__ __forceinline__ uint32_t find_digit(Shared& s, const float* scores, int32_t count,
                                               uint32_t prefix, int shift, int32_t& wanted) {
#pragma unroll 1
  for (int32_t digit = threadIdx.x; digit < kDigits; digit += kThreads) s.histogram[digit] = 0;
  __syncthreads();
  const uint32_t above = shift + kDigitBits < 32 ? ~0u << (shift + kDigitBits) : 0u;
#pragma unroll 1
  for (int32_t i = threadIdx.x; i < count; i += kThreads) {
    const uint32_t key = sort_key(scores[i]);
    if ((key & above) == prefix) atomicAdd(&s.histogram[key >> shift & (kDigits - 1)], 1);
  }
  __syncthreads();
  // Thread t has the digits kDigits - 1 - 2t and the one below: from large to small.
  const int32_t high = kDigits - 1 - 2 * static_cast<int32_t>(threadIdx.x);
  const int32_t in_high = s.histogram[high];
  const int32_t in_low = s.histogram[high - 1];
  int32_t total;
  const int32_t before = count_before(s, in_high + in_low, total);
  if (before < wanted && wanted <= before + in_high + in_low) {
    const bool is_high = wanted <= before + in_high;
    s.digit = is_high ? high : high - 1;
    s.wanted = wanted - before - (is_high ? 0 : in_high);
  }
  __syncthreads();
  wanted = s.wanted;
  return s.digit;
}

// The best `wanted` of any number of scores, more than `wanted`: all above the `wanted`-th largest,
// and the first of those that equal it.
__device__ __noinline__ void choose_by_digits(Shared& s, const float* scores, int32_t count,
                                              int32_t wanted, int32_t first, int32_t* blocks) {
  uint32_t least = 0;
  int32_t equals = wanted;  // how many that equal `least` are chosen
#pragma unroll 1
  for (int shift = 32 - kDigitBits; shift >= 0; shift -= kDigitBits) {
    least |= find_digit(s, scores, count, least, shift, equals) << shift;
  }
  int32_t written = 0;
  int32_t equals_before = 0;
#pragma unroll 1
  for (int32_t start = 0; start < count; start += kThreads) {
    const int32_t i = start + threadIdx.x;
    const uint32_t key = i < count ? sort_key(scores[i]) : 0u;
    const bool is_equal = i < count && key == least;
    int32_t total;
    const int32_t place = equals_before + count_before(s, is_equal, total);
    equals_before += total;
    const bool is_chosen = i < count && (key > least || (is_equal && place < equals));
    const int32_t before = count_before(s, is_chosen, total);
    if (is_chosen) blocks[written + before] = first + i;
    written += total;
  }
}

// More candidates than topk: the forced blocks, and the best of those between them.
__device__ __forceinline__ void choose_best(Shared& s, const BlockTopkParams& p,
                                            const float* scores, int32_t candidates,
                                            int32_t* blocks) {
  const int32_t first = min(p.init_blocks, p.topk_blocks);
  const int32_t local = min(p.local_blocks, p.topk_blocks - first);
  const int32_t wanted = p.topk_blocks - first - local;
  const int32_t count = candidates - first - local;
#pragma unroll 1
  for (int32_t i = threadIdx.x; i < first; i += kThreads) blocks[i] = i;
#pragma unroll 1
  for (int32_t i = threadIdx.x; i < local; i += kThreads) {
    blocks[first + wanted + i] = candidates - local + i;
  }
  if (wanted <= 0) return;
  if (count <= kFew) {
    choose_by_rank(s, scores + first, count, wanted, first, blocks + first);
  } else {
    choose_by_digits(s, scores + first, count, wanted, first, blocks + first);
  }
}

}  // namespace
}  // namespace attention_kernels::cuda

// Grid: x a token of the launch, y an index head.
extern "C" __global__ void __launch_bounds__(128)
    block_topk(__grid_constant__ const BlockTopkParams p) {
  dense_kernels::cuda::wait_and_trigger();
  using namespace attention_kernels::cuda;
  __shared__ Shared s;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * p.index_heads + blockIdx.y;
  const int64_t token = static_cast<int64_t>(p.first_token) + blockIdx.x;
  int32_t* blocks = p.blocks + (blockIdx.y * static_cast<int64_t>(p.total_tokens) + token) *
                                   p.topk_blocks;
  const int32_t candidates = candidate_blocks(p.positions[token], p.page_tokens, p.max_pages);
  if (candidates > p.topk_blocks) {
    choose_best(s, p, p.scores + row * p.max_pages, candidates, blocks);
    return;
  }
#pragma unroll 1
  for (int32_t i = threadIdx.x; i < p.topk_blocks; i += kThreads) {
    blocks[i] = i < candidates ? i : -1;
  }
}
