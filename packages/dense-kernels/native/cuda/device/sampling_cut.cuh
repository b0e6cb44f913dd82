// The rank of the last id that top-k and top-p keep: from the sorted list of the ids in the bins
// where it lies, or, if those are too many, by bisection over the whole row.
#ifndef DENSE_KERNELS_CUDA_SAMPLING_CUT_CUH
#define DENSE_KERNELS_CUDA_SAMPLING_CUT_CUH

#include "sampling_bins.cuh"

namespace dense_kernels::cuda {
namespace {

struct CutScratch {
  BinCut bins;
  Rank list[kMostListed];
  Measure sums[kWarp];
  Rank tie;
  int part;
  Measure before;
  bool is_last;
};

__device__ __forceinline__ Measure measure_of_rank(const SamplingRow& row, float largest,
                                                   Rank rank) {
  return fixed_point(row, weigh(row, largest, logit_of(rank)));
}

// How many of the sorted list top-p keeps: those whose predecessors weigh less than `target`.
__device__ inline int count_below(const SamplingRow& row, float largest, int count, Measure target,
                                  CutScratch& scratch) {
  const int own = (count + kPartThreads - 1) / kPartThreads;
  const int begin = min(count, static_cast<int>(threadIdx.x) * own);
  const int end = min(count, begin + own);
  Measure sum = 0;
  for (int i = begin; i < end; ++i) sum += measure_of_rank(row, largest, scratch.list[i]);
  Measure total;
  Measure running = scratch.bins.weight_before[scratch.bins.first] +
                    part_scan(sum, scratch.sums, total);
  Measure kept = 0;
  for (int i = begin; i < end; ++i) {
    kept += running < target;
    running += measure_of_rank(row, largest, scratch.list[i]);
  }
  return static_cast<int>(block_sum(kept, scratch.sums));
}

// From the list, which has `count` ranks in memory. Adds those that stay to the sums of their
// parts.
__device__ inline Rank cut_by_list(const SamplingRow& row, float largest, int count,
                                   CutScratch& scratch) {
  if (count == 0) return 0;
  const BinCut& bins = scratch.bins;
  int size = 1;
  while (size < count) size *= 2;
  for (int i = threadIdx.x; i < size; i += kPartThreads) {
    scratch.list[i] = i < count ? __ldcg(row.memory.list + i) : 0;
  }
  sort_descending(scratch.list, size);
  const int in_range = count_in_range(bins);
  int kept = in_range;
  Measure total = bins.weight_before[kWeightBins];
  if (bins.bin_k >= 0) {
    // the bin of top-k lies in the range or, alone, behind it
    const bool is_behind = bins.bin_k > bins.last;
    const int begin = is_behind ? in_range : 0;
    const int bin = is_behind ? bins.bin_k : bins.first;
    const int end = begin + row.top_k - static_cast<int>(bins.count_before[bin]);
    Measure sum = 0;
    for (int i = begin + threadIdx.x; i < end; i += kPartThreads) {
      sum += measure_of_rank(row, largest, scratch.list[i]);
    }
    total = bins.weight_before[bin] + block_sum(sum, scratch.sums);
    kept = min(kept, end);
  }
  if (row.top_p < 1.0f) {
    const int reached = count_below(row, largest, in_range, target_of(row, total), scratch);
    kept = min(kept, reached);
  }
  for (int i = threadIdx.x; i < kept; i += kPartThreads) {
    const Rank rank = scratch.list[i];
    const float weight = weigh(row, largest, logit_of(rank));
    if (weight >= row.least) {
      atomicAdd(&row.memory.part_sums[id_of(rank) / kPart], fixed_point(row, weight));
    }
  }
  __threadfence();
  __syncthreads();
  return scratch.list[kept - 1];
}

// Count or weight of the ids that do not come after `cut`.
template <bool kByWeight>
__device__ __noinline__ Measure measure_until(const SamplingRow& row, float largest, Rank cut,
                                        CutScratch& scratch) {
  Measure sum = 0;
#pragma unroll 2
  for (int part = 0; part < row.parts; ++part) {
    float logit[kOwnIds];
    load_own(row, part, logit);
#pragma unroll
    for (int i = 0; i < kOwnIds; ++i) {
      const Measure weight = fixed_point(row, weigh(row, largest, logit[i]));
      const bool counts = weight > 0 && rank_of(logit[i], first_own_id(part) + i) >= cut;
      if (counts) sum += kByWeight ? weight : 1;
    }
  }
  return block_sum(sum, scratch.sums);
}

// The rank of the `place`-th of the ids with this key, by ascending id; place is at least 1.
__device__ __noinline__ Rank find_tie(const SamplingRow& row, uint32_t key, Measure place,
                                CutScratch& scratch) {
  Measure running = 0;
  for (int part = 0; part < row.parts; ++part) {
    float logit[kOwnIds];
    load_own(row, part, logit);
    Measure own = 0;
#pragma unroll
    for (int i = 0; i < kOwnIds; ++i) own += ordered_bits(logit[i]) == key;
    Measure total;
    Measure before = running + part_scan(own, scratch.sums, total);
    running += total;
    if (running < place) continue;
#pragma unroll
    for (int i = 0; i < kOwnIds; ++i) {
      if (ordered_bits(logit[i]) != key) continue;
      if (++before == place) scratch.tie = rank_of(logit[i], first_own_id(part) + i);
    }
    __syncthreads();
    return scratch.tie;
  }
  return 0;
}

// The first rank up to which count or weight reach `target`. Its key lies between those in the
// state.
template <bool kByWeight>
__device__ inline Rank bisect(const SamplingRow& row, float largest, Measure target,
                                    CutScratch& scratch) {
  uint32_t low = __ldcg(&row.memory.state->least_key);
  uint32_t high = __ldcg(&row.memory.state->most_key);
  while (low < high) {
    const uint32_t middle = low + (high - low - 1) / 2 + 1;
    const Rank cut = static_cast<Rank>(middle) << 32;
    if (measure_until<kByWeight>(row, largest, cut, scratch) >= target) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const Rank above = (static_cast<Rank>(low) << 32) + 0x100000000ull;
  const Measure before = measure_until<kByWeight>(row, largest, above, scratch);
  const Measure each =
      kByWeight ? measure_of_rank(row, largest, static_cast<Rank>(low) << 32) : 1;
  return find_tie(row, low, (target - before + each - 1) / each, scratch);
}

// For rows of which thousands of ids lie where the cut does: ties, and clusters far below the best.
// Writes the sums of all parts. A copy of the row, so that no caller needs its own in memory.
__device__ __noinline__ Rank cut_by_search(SamplingRow row, float largest, CutScratch& scratch) {
  Rank cut = 0;
  Measure total = scratch.bins.weight_before[kWeightBins];
  if (scratch.bins.bin_k >= 0) {
    cut = bisect<false>(row, largest, row.top_k, scratch);
    if (row.top_p < 1.0f) total = measure_until<true>(row, largest, cut, scratch);
  }
  if (row.top_p < 1.0f) cut = bisect<true>(row, largest, target_of(row, total), scratch);
  for (int part = 0; part < row.parts; ++part) {
    float logit[kOwnIds];
    load_own(row, part, logit);
    Measure sum = 0;
#pragma unroll
    for (int i = 0; i < kOwnIds; ++i) {
      const float weight = weigh(row, largest, logit[i]);
      const bool stays = weight >= row.least && rank_of(logit[i], first_own_id(part) + i) >= cut;
      if (stays) sum += fixed_point(row, weight);
    }
    sum = block_sum(sum, scratch.sums);
    if (threadIdx.x == 0) row.memory.part_sums[part] = sum;
  }
  __threadfence();
  __syncthreads();
  return cut;
}

}  // namespace
}  // namespace dense_kernels::cuda

#endif
