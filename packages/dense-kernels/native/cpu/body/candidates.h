// The ids that may still be drawn, ascending, with weights exp((logit - largest) / temperature).
//
// Top-k and top-p are one selection: ids in descending order of logit (ties: the lower id first)
// are kept while the measure of those before them stays below a target; each id measures 1 for
// top-k and its weight for top-p. A radix select over the ordered bits of the logit finds the last
// id kept in three passes without sorting; ids below the cut leave after each pass.
#ifndef DENSE_KERNELS_CPU_BODY_CANDIDATES_H
#define DENSE_KERNELS_CPU_BODY_CANDIDATES_H

#include "log_softmax.h"

namespace {

struct Candidates {
  const float* logits;
  int32_t* ids;
  float* weights;
  int count;
};

constexpr int kDigits = 3;
constexpr int kDigitShift[kDigits] = {21, 10, 0};
constexpr int kDigitBins[kDigits] = {2048, 2048, 1024};
constexpr int kCdfBlock = 1024;

// Bits whose unsigned order is the order of the logits; -0 and +0 tie.
LANES_INLINE uint32_t ordered_bits(float logit) {
  const float value = safe_logit(logit) + 0.0f;
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

LANES_INLINE void move_candidate(const Candidates& list, int to, int from) {
  list.ids[to] = list.ids[from];
  list.weights[to] = list.weights[from];
}

// Keeps ids whose predecessors measure less than `target`, and always the best one.
template <bool kByWeight>
void keep_best(Candidates& list, double target) {
  double bins[2048];
  double before = 0.0;
  uint32_t cut = 0;  // leading digits of the last kept key, as found so far
  for (int digit = 0; digit < kDigits; ++digit) {
    const int shift = kDigitShift[digit];
    const int size = kDigitBins[digit];
    // 1. measure of each value of this digit among keys that share the leading digits
    for (int bin = 0; bin < size; ++bin) bins[bin] = 0.0;
    for (int i = 0; i < list.count; ++i) {
      const uint32_t key = ordered_bits(list.logits[list.ids[i]]) >> shift;
      if (digit > 0 && key / size != cut) continue;
      bins[key % size] += kByWeight ? static_cast<double>(list.weights[i]) : 1.0;
    }
    // 2. the bin where the target is reached; by rounding it may be missed, then the lowest one
    int chosen = 0;
    double before_chosen = before;
    for (int bin = size - 1; bin >= 0; --bin) {
      if (!(bins[bin] > 0.0)) continue;
      chosen = bin;
      before_chosen = before;
      before += bins[bin];
      if (before >= target) break;
    }
    before = before_chosen;
    cut = cut * size + chosen;
    // 3. keys below the cut leave
    int kept = 0;
    for (int i = 0; i < list.count; ++i) {
      if (ordered_bits(list.logits[list.ids[i]]) >> shift >= cut) move_candidate(list, kept++, i);
    }
    list.count = kept;
  }
  // 4. ties at the cut: lower ids first, while the target is not reached
  int kept = 0;
  bool first = true;
  for (int i = 0; i < list.count; ++i) {
    if (ordered_bits(list.logits[list.ids[i]]) == cut) {
      if (before >= target && !(first && before == 0.0)) continue;
      first = false;
      before += kByWeight ? static_cast<double>(list.weights[i]) : 1.0;
    }
    move_candidate(list, kept++, i);
  }
  list.count = kept;
}

inline void keep_weights_from(Candidates& list, float least) {
  int kept = 0;
  for (int i = 0; i < list.count; ++i) {
    if (list.weights[i] >= least) move_candidate(list, kept++, i);
  }
  list.count = kept;
}

inline double sum_weights(const float* weights, int count) {
  Floats lanes = splat(0.0f);
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) lanes = lanes + load(weights + i);
  if (i < count) lanes = lanes + load_some(weights + i, count - i);
  return sum_lanes(lanes);
}

inline double total_weight(const float* weights, int count) {
  double total = 0.0;
  for (int block = 0; block < count; block += kCdfBlock) {
    total += sum_weights(weights + block, count - block < kCdfBlock ? count - block : kCdfBlock);
  }
  return total;
}

// The index where the running sum first exceeds unit * total. Whole blocks are skipped; an index of
// weight 0 is never returned. `unit` is in [0, 1) and some weight is above 0.
inline int inverse_cdf(const float* weights, int count, double unit) {
  const double target = unit * total_weight(weights, count);
  double running = 0.0;
  int block_found = 0;
  double before_block = 0.0;
  for (int block = 0; block < count; block += kCdfBlock) {
    const double sum =
        sum_weights(weights + block, count - block < kCdfBlock ? count - block : kCdfBlock);
    if (!(sum > 0.0)) continue;
    block_found = block;
    before_block = running;
    running += sum;
    if (running > target) break;
  }
  const int end = count - block_found < kCdfBlock ? count : block_found + kCdfBlock;
  int last = block_found;
  running = before_block;
  for (int i = block_found; i < end; ++i) {
    if (!(weights[i] > 0.0f)) continue;
    last = i;
    running += static_cast<double>(weights[i]);
    if (running > target) break;
  }
  return last;
}

}  // namespace

#endif
