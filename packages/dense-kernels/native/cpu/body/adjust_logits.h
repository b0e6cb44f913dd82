// Adjusting logits, the body that every instruction set shares. Rows in parallel; a row without a
// flag costs a look at its flag.
#ifndef DENSE_KERNELS_CPU_BODY_ADJUST_LOGITS_H
#define DENSE_KERNELS_CPU_BODY_ADJUST_LOGITS_H

#include "cuda_runtime/abi.h"
#include "dense_kernels/adjust_logits.h"
#include "log_softmax.h"

namespace {

constexpr int32_t kHasPenalties = 1;
constexpr int32_t kHasEntries = 2;

// The changes of one row.
struct AdjustedRow {
  int32_t flags;
  int32_t position;
  float* logits;
  float* raw;
  int32_t* counts;
};

inline AdjustedRow open_row(const AdjustLogitsParams* p, int64_t row) {
  return {static_cast<const int32_t*>(p->flags)[row],
          static_cast<const int32_t*>(p->positions)[row],
          static_cast<float*>(p->logits) + row * p->logits_stride,
          static_cast<float*>(p->raw) + row * p->vocab,
          static_cast<int32_t*>(p->counts) + row * p->vocab};
}

inline bool is_changed(const AdjustedRow& row) {
  return row.position >= 0 && (row.flags & (kHasPenalties | kHasEntries)) != 0;
}

// Three roundings, none of them fused: both backends give the same bits.
inline float penalised(float x, int32_t seen, float repetition, float frequency, float presence) {
  if (seen == 0) return x;
  const float scaled = x > 0.0f ? x / repetition : x * repetition;
  if (seen < 2) return scaled;
  const float repeated = frequency * static_cast<float>(seen >> 1);
  return (scaled - repeated) - presence;
}

// Few ids of a row are seen, so a block of the table without any is skipped.
inline void penalise(const AdjustLogitsParams* p, int64_t index, const AdjustedRow& row) {
  const float repetition = static_cast<const float*>(p->repetition)[index];
  const float frequency = static_cast<const float*>(p->frequency)[index];
  const float presence = static_cast<const float*>(p->presence)[index];
  for (int begin = 0; begin < p->vocab; begin += kLanes) {
    const int end = p->vocab - begin < kLanes ? p->vocab : begin + kLanes;
    int32_t any = 0;
    for (int id = begin; id < end; ++id) any |= row.counts[id];
    if (any == 0) continue;
    for (int id = begin; id < end; ++id) {
      row.logits[id] = penalised(row.logits[id], row.counts[id], repetition, frequency, presence);
    }
  }
}

// First what is added, then what is removed: an id may have one of each.
inline void apply_entries(const AdjustLogitsParams* p, int64_t index, const AdjustedRow& row) {
  const int64_t first = index * p->entries;
  const int32_t* ids = static_cast<const int32_t*>(p->entry_ids) + first;
  const float* values = static_cast<const float*>(p->entry_values) + first;
  const int32_t* until = static_cast<const int32_t*>(p->entry_until) + first;
  const float removed = -__builtin_inff();
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < p->entries; ++i) {
      const int32_t id = ids[i];
      if (id < 0 || id >= p->vocab || row.position >= until[i]) continue;
      if ((values[i] == removed) != (pass == 1)) continue;
      row.logits[id] = pass == 1 ? removed : row.logits[id] + values[i];
    }
  }
}

inline void copy_row(float* to, const float* from, int vocab) {
  int id = 0;
  for (; id + kLanes <= vocab; id += kLanes) store(to + id, load(from + id));
  for (; id < vocab; ++id) to[id] = from[id];
}

inline void adjust_rows(void* argument, int64_t begin, int64_t end) {
  const AdjustLogitsParams* p = static_cast<const AdjustLogitsParams*>(argument);
  for (int64_t index = begin; index < end; ++index) {
    const AdjustedRow row = open_row(p, index);
    if (!is_changed(row)) continue;
    copy_row(row.raw, row.logits, p->vocab);
    if (row.flags & kHasPenalties) penalise(p, index, row);
    if (row.flags & kHasEntries) apply_entries(p, index, row);
  }
}

inline void restore_rows(void* argument, int64_t begin, int64_t end) {
  const AdjustLogitsParams* p = static_cast<const AdjustLogitsParams*>(argument);
  for (int64_t index = begin; index < end; ++index) {
    const AdjustedRow row = open_row(p, index);
    if (!is_changed(row)) continue;
    copy_row(row.logits, row.raw, p->vocab);
    const int32_t id = static_cast<const int32_t*>(p->ids)[index];
    if (id < 0 || id >= p->vocab) continue;
    if (row.flags & kHasPenalties) row.counts[id] += 2;
    float* logprob = static_cast<float*>(p->logprobs);
    if (logprob == nullptr || !(logprob[index] == logprob[index])) continue;
    const float largest = largest_logit(row.raw, p->vocab);
    const double log_sum =
        largest >= -kLargestFloat ? log_of_sum(row.raw, p->vocab, largest) : 0.0;
    logprob[index] = log_probability(row.raw[id], largest, log_sum);
  }
}

inline void adjust_all(const AdjustLogitsParams* p, const CpuContext* context) {
  context->parallel_for(context, p->rows, 1, adjust_rows, const_cast<AdjustLogitsParams*>(p));
}

inline void restore_all(const AdjustLogitsParams* p, const CpuContext* context) {
  context->parallel_for(context, p->rows, 1, restore_rows, const_cast<AdjustLogitsParams*>(p));
}

}  // namespace

#endif
