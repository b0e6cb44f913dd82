// The last id that a top-k or top-p keeps, found without sorting, by a block of 1024 threads.
//
// Ids in descending order of logit (ties: the lower id first) are kept while the measure of those
// before them stays below a target; each id measures 1 for top-k and its weight for top-p. A radix
// select over the ordered bits of the logit (11 + 11 + 10) finds the key of the last one kept.
// Measures are integers, weights in fixed point, so the sums do not depend on who adds them when.
#ifndef DENSE_KERNELS_CUDA_SELECT_CUH
#define DENSE_KERNELS_CUDA_SELECT_CUH

#include <stdint.h>

#include "log_softmax.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int kDigits = 3;
constexpr int kBins = 2048;
// A function, because a constant array would need a place in device memory.
__device__ constexpr int digit_shift(int digit) { return digit == 0 ? 21 : digit == 1 ? 10 : 0; }
__device__ constexpr int digit_bits(int digit) { return digit == 2 ? 10 : 11; }

using Measure = unsigned long long;

struct SelectScratch {
  Measure bins[kBins];
  Measure warp_sums[kRowWarps];
  Measure before;
  Measure each;
  uint32_t bin;
};

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
__device__ inline Measure block_scan(Measure value, Measure* warp_sums, Measure& total) {
  const Measure inclusive = warp_scan(value);
  __syncthreads();  // the last user of warp_sums is done
  if (lane_id() == kWarp - 1) warp_sums[warp_id()] = inclusive;
  __syncthreads();
  const Measure warps = warp_scan(warp_sums[lane_id()]);
  total = __shfl_sync(kAllLanes, warps, kWarp - 1);
  const Measure before = __shfl_sync(kAllLanes, warps, (warp_id() + kWarp - 1) % kWarp);
  return (warp_id() == 0 ? 0 : before) + inclusive - value;
}

// Of the bins, highest first, the one in which the running measure reaches the target, and the
// measure before it. target is at least 1 and at most the sum of `before` and all bins.
__device__ inline void choose_bin(SelectScratch& scratch, int bins, Measure target) {
  constexpr int kOwn = kBins / kRowThreads;
  Measure own[kOwn];
  Measure sum = 0;
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    const int bin = bins - 1 - (static_cast<int>(threadIdx.x) * kOwn + i);
    own[i] = bin >= 0 ? scratch.bins[bin] : 0;
    sum += own[i];
  }
  Measure total;
  const Measure already = scratch.before;
  Measure running = already + block_scan(sum, scratch.warp_sums, total);  // syncs: all read before
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    if (running < target && running + own[i] >= target) {  // true for one thread and one i
      scratch.bin = bins - 1 - (threadIdx.x * kOwn + i);
      scratch.before = running;
    }
    running += own[i];
  }
  __syncthreads();
}

// Fills the bins with the measures of one digit: item i of [0, count) has key(i) and measure(i); a
// measure of 0 is left out. Keys count whose leading digits are `prefix`.
template <typename Items>
__device__ inline void fill_bins(const Items& items, int64_t count, int digit, uint32_t prefix,
                                 SelectScratch& scratch) {
  for (int bin = threadIdx.x; bin < kBins; bin += kRowThreads) scratch.bins[bin] = 0;
  __syncthreads();
  const int shift = digit_shift(digit);
  const int bits = digit_bits(digit);
  for (int64_t i = threadIdx.x; i < count; i += kRowThreads) {
    const uint32_t key = items.key(i) >> shift;
    if (digit > 0 && key >> bits != prefix) continue;
    const Measure measure = items.measure(i);
    if (measure > 0) atomicAdd(&scratch.bins[key & ((1u << bits) - 1)], measure);
  }
  __syncthreads();
}

// One digit of the cut. `scratch.before` is 0 before the first; prefix is 0 then.
template <typename Items>
__device__ inline uint32_t next_digit(const Items& items, int64_t count, int digit, uint32_t prefix,
                                      Measure target, SelectScratch& scratch) {
  fill_bins(items, count, digit, prefix, scratch);
  choose_bin(scratch, 1 << digit_bits(digit), target);
  return prefix << digit_bits(digit) | scratch.bin;
}

__device__ __forceinline__ void start_selection(SelectScratch& scratch) {
  __syncthreads();
  if (threadIdx.x == 0) scratch.before = 0;
  __syncthreads();
}

}  // namespace
}  // namespace dense_kernels::cuda

#endif
