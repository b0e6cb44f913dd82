// The ids that may still be drawn, ascending, with weights exp((logit - largest) / temperature), in
// scratch memory of the row; filters make the list shorter in place. A block of 1024 threads.
//
// Sums of weights are sums of integers: a weight w <= 1 counts as floor(w * 2^shift), with `shift` so
// that the whole vocabulary fits 62 bits (44 bits at 200,064 ids). So they are exact, and the same in
// any order. An id whose weight is below 2^-shift is not a candidate.
#ifndef DENSE_KERNELS_CUDA_CANDIDATES_CUH
#define DENSE_KERNELS_CUDA_CANDIDATES_CUH

#include "select.cuh"

namespace dense_kernels::cuda {
namespace {

struct Candidates {
  const float* logits;
  int32_t* ids;
  float* weights;
  int count;
  float one;  // 2^shift
};

__device__ __forceinline__ Measure fixed_point(float weight, float one) {
  return __float2ull_rz(weight * one);
}

__device__ __forceinline__ float fixed_point_one(int vocab) {
  const int bits = 32 - __clz(vocab);  // vocab < 2^bits
  return __uint_as_float(static_cast<uint32_t>(127 + 62 - bits) << 23);
}

// Weight of a logit; an impossible id stays impossible at any temperature.
__device__ __forceinline__ float weigh(float logit, float largest, float temperature) {
  const float below = safe_logit(logit) - largest;
  if (below == minus_infinity()) return 0.0f;
  return expf(below / temperature);
}

// Items for select: each id measures 1 or its weight.
template <bool kByWeight>
struct CandidateItems {
  const Candidates& list;
  __device__ uint32_t key(int64_t i) const { return ordered_bits(list.logits[list.ids[i]]); }
  __device__ Measure measure(int64_t i) const {
    if constexpr (kByWeight) return fixed_point(list.weights[i], list.one);
    return 1;
  }
};

// The vocabulary itself, before there is a list.
struct AllIds {
  const float* logits;
  float largest;
  float temperature;
  __device__ void get(int64_t i, int32_t& id, float& weight) const {
    id = static_cast<int32_t>(i);
    weight = weigh(logits[i], largest, temperature);
  }
};

struct ListedIds {
  const Candidates& list;
  __device__ void get(int64_t i, int32_t& id, float& weight) const {
    id = list.ids[i];
    weight = list.weights[i];
  }
};

enum Keep : uint32_t { kDrop = 0, kStay = 1, kTie = 2 };

// Both counts in one number: those that stay in the low half, ties in the high half.
__device__ __forceinline__ Measure counted(uint32_t keep) {
  return keep == kStay ? 1ull : keep == kTie ? 1ull << 32 : 0ull;
}

// Writes those of the `count` source items that stay to the front of the list, in order, and of the
// ties the first `ties`. The source may be the list: a tile of 4096 items is in registers before
// any of it is written, and goes to a place that is not behind its own.
template <typename Source, typename Predicate>
__device__ inline void filter(Candidates& list, const Source& source, int64_t count,
                              const Predicate& keep, Measure ties, SelectScratch& scratch) {
  constexpr int kOwn = 4;
  Measure kept_before = 0;
  for (int64_t tile = 0; tile < count; tile += kRowThreads * kOwn) {
    int32_t ids[kOwn];
    float weights[kOwn];
    uint32_t verdict[kOwn];
    Measure own = 0;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const int64_t at = tile + threadIdx.x * kOwn + i;
      verdict[i] = kDrop;
      if (at < count) {
        source.get(at, ids[i], weights[i]);
        verdict[i] = keep(ids[i], weights[i]);
      }
      own += counted(verdict[i]);
    }
    Measure total;
    Measure before = kept_before + block_scan(own, scratch.warp_sums, total);
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const Measure stays = before & 0xffffffffull;
      const Measure tied = before >> 32;
      const bool is_kept = verdict[i] == kStay || (verdict[i] == kTie && tied < ties);
      if (is_kept) {
        const Measure place = stays + (tied < ties ? tied : ties);
        list.ids[place] = ids[i];
        list.weights[place] = weights[i];
      }
      before += counted(verdict[i]);
    }
    kept_before += total;
  }
  const Measure tied = kept_before >> 32;
  list.count = static_cast<int>((kept_before & 0xffffffffull) + (tied < ties ? tied : ties));
  __syncthreads();  // what was written is read by others
}

// Weights of all ids; those that count as 0 leave.
__device__ inline void gather_possible(Candidates& list, int vocab, const RowFacts& row,
                                       float temperature, SelectScratch& scratch) {
  const float one = list.one;
  filter(
      list, AllIds{list.logits, row.largest, temperature}, vocab,
      [one](int32_t, float weight) { return fixed_point(weight, one) > 0 ? kStay : kDrop; }, 0,
      scratch);
}

// The measure that all items with this key share; one is there.
template <typename Items>
__device__ inline Measure measure_at(const Items& items, int64_t count, uint32_t key,
                                     SelectScratch& scratch) {
  if (threadIdx.x == 0) scratch.each = 0;
  __syncthreads();
  for (int64_t i = threadIdx.x; i < count; i += kRowThreads) {
    if (items.key(i) == key) atomicMax(&scratch.each, items.measure(i));
  }
  __syncthreads();
  return scratch.each;
}

// Keeps ids whose predecessors measure less than `target`, and always the best one. Not inlined: twice
// in one kernel of 64 registers a thread it would spill them.
template <bool kByWeight>
__device__ __noinline__ void keep_best(Candidates& list, Measure target, SelectScratch& scratch) {
  if (target == 0) target = 1;
  const float* logits = list.logits;
  start_selection(scratch);
  // 1. the first digit of the last key kept; keys below it leave
  const CandidateItems<kByWeight> items{list};
  uint32_t prefix = next_digit(items, list.count, 0, 0, target, scratch);
  const auto reaches = [logits, prefix](int32_t id, float) {
    return ordered_bits(logits[id]) >> digit_shift(0) >= prefix ? kStay : kDrop;
  };
  filter(list, ListedIds{list}, list.count, reaches, 0, scratch);
  // 2. the other digits, of what is left
  uint32_t cut = next_digit(items, list.count, 1, prefix, target, scratch);
  cut = next_digit(items, list.count, 2, cut, target, scratch);
  // 3. ties at the cut measure the same: so many of the lowest ids until the target is reached
  const Measure missing = target - scratch.before;
  const Measure each = measure_at(items, list.count, cut, scratch);
  const Measure ties = (missing + each - 1) / each;
  const auto is_kept = [logits, cut](int32_t id, float) {
    const uint32_t key = ordered_bits(logits[id]);
    return key > cut ? kStay : key == cut ? kTie : kDrop;
  };
  filter(list, ListedIds{list}, list.count, is_kept, ties, scratch);
}

// The weight of an item in fixed point, 0 where it is below `least`.
template <typename Source>
__device__ __forceinline__ Measure weight_of(const Source& source, int64_t i, float one,
                                             float least) {
  int32_t id;
  float weight;
  source.get(i, id, weight);
  return weight >= least ? fixed_point(weight, one) : 0;
}

__device__ inline Measure total_weight(const Candidates& list, SelectScratch& scratch) {
  Measure sum = 0;
  for (int i = threadIdx.x; i < list.count; i += kRowThreads) {
    sum += fixed_point(list.weights[i], list.one);
  }
  return block_sum(sum, scratch.warp_sums);
}

// The index where the running sum first exceeds unit * total; `unit_bits` / 2^64 is the unit. Cuts the
// range into a piece a warp, takes the piece that holds the place, and cuts that one again. An index
// of weight 0 is never returned. Some weight counts as more than 0.
template <typename Source>
__device__ inline int64_t inverse_cdf(const Source& source, int64_t count, float one, float least,
                                      uint64_t unit_bits, SelectScratch& scratch) {
  int64_t begin = 0;
  int64_t end = count;
  Measure target = 0;
  Measure running = 0;
  for (bool is_first = true;; is_first = false) {
    const int64_t piece = (end - begin + kRowWarps - 1) / kRowWarps;
    const int64_t own_begin = begin + warp_id() * piece;
    const int64_t own_end = min(own_begin + piece, end);
    Measure sum = 0;
    for (int64_t i = own_begin + lane_id(); i < own_end; i += kWarp) {
      sum += weight_of(source, i, one, least);
    }
    sum = warp_sum(sum);
    __syncthreads();  // the last user of warp_sums is done
    if (lane_id() == 0) scratch.warp_sums[warp_id()] = sum;
    __syncthreads();
    const Measure up_to = warp_scan(scratch.warp_sums[lane_id()]);
    if (is_first) {
      target = __umul64hi(unit_bits, __shfl_sync(kAllLanes, up_to, kWarp - 1));  // below the total
    }
    const int found = __popc(__ballot_sync(kAllLanes, running + up_to <= target));
    if (found > 0) running += __shfl_sync(kAllLanes, up_to, found - 1);
    begin += found * piece;
    end = min(begin + piece, end);
    if (piece == 1) return begin;
  }
}

}  // namespace
}  // namespace dense_kernels::cuda

#endif
