// Count and weight of a row's ids by how far they are below the largest logit, in 512 bins; and
// which bins hold the last ids that top-k and top-p keep.
#ifndef DENSE_KERNELS_CUDA_SAMPLING_BINS_CUH
#define DENSE_KERNELS_CUDA_SAMPLING_BINS_CUH

#include "sampling_row.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int kLowBits = 21;  // 2048 low limbs of a part fit 32 bits, and so do the high ones

// Bins of equal width from the largest logit to the smallest that is possible. A bin never comes
// before that of a larger logit, since each step of the arithmetic is monotonic.
struct BinScale {
  float largest;
  float factor;
  __device__ int bin(float logit) const {
    return static_cast<int>(fminf((largest - logit) * factor, kWeightBins - 1.0f));
  }
};

__device__ __forceinline__ BinScale bin_scale(const SamplingRow& row, float largest,
                                              float smallest) {
  constexpr float kDeepest = kWeightBits * 0.6931472f + 0.1f;  // exp(-kDeepest) < 2^-kWeightBits
  const float range = fminf(largest - smallest, kDeepest * row.temperature);
  return {largest, range >= 1e-30f ? (kWeightBins - 1.0f) / range : 0.0f};
}

// 32-bit, because adding 64 bits in shared memory is a loop of compare-and-swap.
struct BinScratch {
  uint32_t count[kWeightBins];
  uint32_t low[kWeightBins];
  uint32_t high[kWeightBins];
};

// Adds one part to the bins of the row.
__device__ inline void add_to_bins(const SamplingRow& row, const BinScale& scale,
                                   const float (&logit)[kOwnIds], BinScratch& scratch) {
  const int own = threadIdx.x;
  scratch.count[own] = scratch.low[own] = scratch.high[own] = 0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kOwnIds; ++i) {
    const Measure weight = fixed_point(row, weigh(row, scale.largest, logit[i]));
    if (weight == 0) continue;
    const int bin = scale.bin(logit[i]);
    atomicAdd(&scratch.count[bin], 1u);
    atomicAdd(&scratch.low[bin], static_cast<uint32_t>(weight) & ((1u << kLowBits) - 1));
    const uint32_t high = static_cast<uint32_t>(weight >> kLowBits);
    if (high > 0) atomicAdd(&scratch.high[bin], high);
  }
  __syncthreads();
  if (scratch.count[own] == 0) return;
  const Measure sum = (static_cast<Measure>(scratch.high[own]) << kLowBits) + scratch.low[own];
  atomicAdd(&row.memory.bin_weights[own], sum);
  atomicAdd(&row.memory.bin_counts[own], scratch.count[own]);
}

// Bins before `first` stay. Those from `first` to `last`, and `bin_k`, are listed. Others leave.
struct BinCut {
  Measure weight_before[kWeightBins + 1];
  uint32_t count_before[kWeightBins + 1];
  Measure warp_sums[kWarp];
  int first;
  int last;
  int bin_k;  // holds the last id of top-k; -1 = top-k removes none
};

__device__ __forceinline__ Measure target_of(const SamplingRow& row, Measure total) {
  const double share = ceil(static_cast<double>(row.top_p) * static_cast<double>(total));
  const Measure target = static_cast<Measure>(share);
  return target > 0 ? target : 1;  // the best always stays
}

// Weight and count reach a target in exactly one bin. Top-p takes a share of what top-k leaves,
// which lies between the sums before and after the bin of top-k: so its bin is first to last.
__device__ inline void find_cut_bins(const SamplingRow& row, BinCut& cut) {
  const int bin = threadIdx.x;
  Measure weights;
  Measure counts;
  cut.weight_before[bin] = part_scan(row.memory.bin_weights[bin], cut.warp_sums, weights);
  cut.count_before[bin] =
      static_cast<uint32_t>(part_scan(row.memory.bin_counts[bin], cut.warp_sums, counts));
  if (bin == 0) {
    cut.weight_before[kWeightBins] = weights;
    cut.count_before[kWeightBins] = static_cast<uint32_t>(counts);
    cut.first = kWeightBins;
    cut.last = kWeightBins - 1;
    cut.bin_k = -1;
  }
  __syncthreads();
  const uint32_t top_k = row.top_k;
  const bool by_k = top_k > 0 && top_k < counts;
  if (by_k && cut.count_before[bin] < top_k && top_k <= cut.count_before[bin + 1]) {
    cut.bin_k = bin;
    if (!(row.top_p < 1.0f)) cut.first = cut.last = bin;
  }
  __syncthreads();
  if (row.top_p < 1.0f) {
    const int bin_k = cut.bin_k;
    const Measure least = target_of(row, by_k ? cut.weight_before[bin_k] : weights);
    const Measure most = target_of(row, by_k ? cut.weight_before[bin_k + 1] : weights);
    const Measure begin = cut.weight_before[bin];
    const Measure end = cut.weight_before[bin + 1];
    if (begin < least && least <= end) cut.first = bin;
    if (begin < most && most <= end) cut.last = bin;
  }
  __syncthreads();
}

__device__ __forceinline__ bool is_listed(const BinCut& cut, int bin) {
  return (bin >= cut.first && bin <= cut.last) || bin == cut.bin_k;
}

// Listed ids in the bins first to last.
__device__ __forceinline__ int count_in_range(const BinCut& cut) {
  return static_cast<int>(cut.count_before[cut.last + 1] - cut.count_before[cut.first]);
}

__device__ __forceinline__ int count_listed(const BinCut& cut) {
  const int range = count_in_range(cut);
  if (cut.bin_k <= cut.last) return range;
  return range +
         static_cast<int>(cut.count_before[cut.bin_k + 1] - cut.count_before[cut.bin_k]);
}

}  // namespace
}  // namespace dense_kernels::cuda

#endif
