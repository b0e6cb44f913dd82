// A row of logits cut into parts of 2048 ids, whatever the batch: a block of 512 threads works on
// one part at a time, four neighbouring ids a thread. What the parts give is joined in a fixed
// order.
#ifndef DENSE_KERNELS_CUDA_PARTS_CUH
#define DENSE_KERNELS_CUDA_PARTS_CUH

#include "log_softmax.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int kPartThreads = 512;
constexpr int kPartWarps = kPartThreads / kWarp;
constexpr int kOwnIds = 4;
constexpr int kPart = kPartThreads * kOwnIds;

using Measure = unsigned long long;

__device__ __forceinline__ int parts_of(int vocab) { return (vocab - 1) / kPart + 1; }

__device__ __forceinline__ int first_own_id(int part) {
  return part * kPart + static_cast<int>(threadIdx.x) * kOwnIds;
}

// An id in the order of selection: the larger logit first, of equal ones the lower id. No two tie.
using Rank = unsigned long long;

__device__ __forceinline__ Rank rank_of(float logit, int32_t id) {
  return static_cast<Rank>(ordered_bits(logit)) << 32 | static_cast<uint32_t>(~id);
}
__device__ __forceinline__ int32_t id_of(Rank rank) {
  return static_cast<int32_t>(~static_cast<uint32_t>(rank));
}
__device__ __forceinline__ float logit_of(Rank rank) {
  const uint32_t key = static_cast<uint32_t>(rank >> 32);
  return __uint_as_float(key & 0x80000000u ? key ^ 0x80000000u : ~key);
}

// Sum over the lanes up to this one.
__device__ __forceinline__ Measure warp_scan(Measure value) {
#pragma unroll
  for (int offset = 1; offset < kWarp; offset *= 2) {
    const Measure other = __shfl_up_sync(kAllLanes, value, offset);
    if (lane_id() >= offset) value += other;
  }
  return value;
}

// Sum of `value` over the threads before this one; `total` over all. Every warp adds up the warps.
__device__ inline Measure part_scan(Measure value, Measure* warp_sums, Measure& total) {
  const Measure inclusive = warp_scan(value);
  __syncthreads();  // the last user of warp_sums is done
  if (lane_id() == kWarp - 1) warp_sums[warp_id()] = inclusive;
  __syncthreads();
  const Measure warps = warp_scan(lane_id() < kPartWarps ? warp_sums[lane_id()] : 0);
  total = __shfl_sync(kAllLanes, warps, kWarp - 1);
  const Measure before = __shfl_sync(kAllLanes, warps, (warp_id() + kWarp - 1) % kWarp);
  return (warp_id() == 0 ? 0 : before) + inclusive - value;
}

// By the block, in shared memory. `count` is a power of two.
__device__ inline void sort_descending(Rank* list, int count) {
  for (int run = 2; run <= count; run *= 2) {
    for (int stride = run / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int pair = threadIdx.x; pair < count / 2; pair += kPartThreads) {
        const int low = 2 * pair - (pair & (stride - 1));
        const Rank a = list[low];
        const Rank b = list[low + stride];
        if ((a < b) == ((low & run) == 0)) {
          list[low] = b;
          list[low + stride] = a;
        }
      }
    }
  }
  __syncthreads();
}

// What one block finds of a part.
struct PartFacts {
  double sum;  // of exp(logit - largest)
  float largest;
  int32_t id;  // the lowest with that logit
  float smallest;  // of those that are not -inf
  int32_t unused;
};

static_assert(sizeof(PartFacts) == 24);

struct LargestScratch {
  float largest[kPartWarps];
  int32_t id[kPartWarps];
  float smallest[kPartWarps];
};

// The block's largest with the lowest id, and smallest, in every thread.
__device__ inline void block_extremes(float& largest, int32_t& id, float& smallest,
                                      LargestScratch& scratch) {
  warp_keep_larger(largest, id);
  smallest = -warp_max(-smallest);
  __syncthreads();  // the last user of scratch is done
  if (lane_id() == 0) {
    scratch.largest[warp_id()] = largest;
    scratch.id[warp_id()] = id;
    scratch.smallest[warp_id()] = smallest;
  }
  __syncthreads();
  const int warp = lane_id() % kPartWarps;
  largest = scratch.largest[warp];
  id = scratch.id[warp];
  smallest = -warp_max(-scratch.smallest[warp]);
  warp_keep_larger(largest, id);
}

struct FactsScratch {
  LargestScratch extremes;
  double sums[kWarp];
};

__device__ inline PartFacts find_part_facts(int part, const float (&logit)[kOwnIds],
                                            FactsScratch& scratch) {
  PartFacts facts{0.0, minus_infinity(), 0x7fffffff, -minus_infinity(), 0};
#pragma unroll
  for (int i = 0; i < kOwnIds; ++i) {
    keep_larger(facts.largest, facts.id, logit[i], first_own_id(part) + i);
    if (logit[i] > minus_infinity()) facts.smallest = fminf(facts.smallest, logit[i]);
  }
  block_extremes(facts.largest, facts.id, facts.smallest, scratch.extremes);
  double sum = 0.0;
  if (facts.largest > minus_infinity()) {
    sum = static_cast<double>(
        (expf(logit[0] - facts.largest) + expf(logit[1] - facts.largest)) +
        (expf(logit[2] - facts.largest) + expf(logit[3] - facts.largest)));
  }
  facts.sum = block_sum(sum, scratch.sums);
  return facts;
}

struct Extremes {
  float largest;
  int32_t id;
  float smallest;
};

__device__ inline Extremes join_extremes(const PartFacts* all_facts, int parts,
                                         FactsScratch& scratch) {
  Extremes all{minus_infinity(), 0x7fffffff, -minus_infinity()};
  for (int part = threadIdx.x; part < parts; part += kPartThreads) {
    const PartFacts& facts = all_facts[part];
    keep_larger(all.largest, all.id, facts.largest, facts.id);
    all.smallest = fminf(all.smallest, facts.smallest);
  }
  block_extremes(all.largest, all.id, all.smallest, scratch.extremes);
  return all;
}

// The sums of the parts, brought to the largest logit of the row. Every thread has the result.
__device__ inline RowFacts join_sums(const PartFacts* all_facts, int parts, const Extremes& all,
                                     FactsScratch& scratch) {
  double sum = 0.0;
  for (int part = threadIdx.x; part < parts; part += kPartThreads) {
    const PartFacts& facts = all_facts[part];
    if (facts.largest > minus_infinity()) {
      sum += facts.sum * static_cast<double>(expf(facts.largest - all.largest));
    }
  }
  sum = block_sum(sum, scratch.sums);
  const bool is_usable = all.largest > minus_infinity();
  return {all.largest, is_usable ? all.id : 0, is_usable ? log(sum) : 0.0};
}

}  // namespace
}  // namespace dense_kernels::cuda

#endif
