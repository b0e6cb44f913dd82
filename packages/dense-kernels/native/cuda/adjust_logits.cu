// Adjusting logits on CUDA. adjust_logits: blocks over the parts of a row (x), which own their ids,
// and over rows (y); no id is written by two threads between two barriers. restore_logits: a block
// a row, as it joins the row to one log-probability. A row without a flag ends at once.
#include "dense_kernels/adjust_logits.h"
#include "dense_kernels/cuda/pdl.cuh"
#include "device/parts.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int32_t kHasPenalties = 1;
constexpr int32_t kHasEntries = 2;

struct AdjustedRow {
  int32_t flags;
  int32_t position;
  float* logits;
  float* raw;
  int32_t* counts;
};

__device__ inline AdjustedRow open_row(const AdjustLogitsParams& p, int64_t row) {
  return {static_cast<const int32_t*>(p.flags)[row],
          static_cast<const int32_t*>(p.positions)[row],
          static_cast<float*>(p.logits) + row * p.logits_stride,
          static_cast<float*>(p.raw) + row * p.vocab,
          static_cast<int32_t*>(p.counts) + row * p.vocab};
}

__device__ inline bool is_changed(const AdjustedRow& row) {
  return row.position >= 0 && (row.flags & (kHasPenalties | kHasEntries)) != 0;
}

// Three roundings, none of them fused: both backends give the same bits.
__device__ inline float penalised(float x, int32_t seen, float repetition, float frequency,
                                  float presence) {
  if (seen == 0) return x;
  const float scaled = x > 0.0f ? __fdiv_rn(x, repetition) : __fmul_rn(x, repetition);
  if (seen < 2) return scaled;
  const float repeated = __fmul_rn(frequency, static_cast<float>(seen >> 1));
  return __fsub_rn(__fsub_rn(scaled, repeated), presence);
}

// Ids [begin, end) of a row: keeps what was there and writes what penalties make of it.
__device__ inline void penalise(const AdjustLogitsParams& p, int64_t index, const AdjustedRow& row,
                                int begin, int end) {
  const bool has_penalties = (row.flags & kHasPenalties) != 0;
  const float repetition = static_cast<const float*>(p.repetition)[index];
  const float frequency = static_cast<const float*>(p.frequency)[index];
  const float presence = static_cast<const float*>(p.presence)[index];
  for (int id = begin + threadIdx.x; id < end; id += blockDim.x) {
    const float logit = row.logits[id];
    row.raw[id] = logit;
    const int32_t seen = has_penalties ? row.counts[id] : 0;
    if (seen != 0) row.logits[id] = penalised(logit, seen, repetition, frequency, presence);
  }
}

// First what is added, then what is removed: an id may have one of each.
__device__ inline void apply_entries(const AdjustLogitsParams& p, int64_t index,
                                     const AdjustedRow& row, int begin, int end) {
  const int64_t first = index * p.entries;
  const int32_t* ids = static_cast<const int32_t*>(p.entry_ids) + first;
  const float* values = static_cast<const float*>(p.entry_values) + first;
  const int32_t* until = static_cast<const int32_t*>(p.entry_until) + first;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();  // what this block wrote before is visible to whichever thread has the entry
    for (int i = threadIdx.x; i < p.entries; i += blockDim.x) {
      const int32_t id = ids[i];
      if (id < begin || id >= end || row.position >= until[i]) continue;
      const float value = values[i];
      if ((value == minus_infinity()) != (pass == 1)) continue;
      row.logits[id] = pass == 1 ? value : __fadd_rn(row.logits[id], value);
    }
  }
}

// The block's raw logits back in place, and the largest of them.
__device__ inline float put_back(const AdjustLogitsParams& p, const AdjustedRow& row,
                                 float* scratch) {
  float largest = minus_infinity();
  for (int id = threadIdx.x; id < p.vocab; id += blockDim.x) {
    const float logit = row.raw[id];
    row.logits[id] = logit;
    largest = fmaxf(largest, safe_logit(logit));
  }
  return block_max(largest, scratch);
}

__device__ inline double log_of_sum(const AdjustLogitsParams& p, const AdjustedRow& row,
                                    float largest, double* scratch) {
  double sum = 0.0;
  for (int id = threadIdx.x; id < p.vocab; id += blockDim.x) {
    sum += static_cast<double>(expf(safe_logit(row.raw[id]) - largest));
  }
  return log(block_sum(sum, scratch));
}

}  // namespace
}  // namespace dense_kernels::cuda

extern "C" __global__ void __launch_bounds__(512)
    adjust_logits(__grid_constant__ const AdjustLogitsParams p) {
  using namespace dense_kernels::cuda;
  wait_and_trigger();
  const int64_t index = blockIdx.y;
  const AdjustedRow row = open_row(p, index);
  if (!is_changed(row)) return;
  const int own = (p.vocab - 1) / static_cast<int>(gridDim.x) + 1;
  const int begin = min(own * static_cast<int>(blockIdx.x), p.vocab);
  const int end = min(begin + own, p.vocab);
  penalise(p, index, row, begin, end);
  if (row.flags & kHasEntries) apply_entries(p, index, row, begin, end);
}

extern "C" __global__ void __launch_bounds__(512)
    restore_logits(__grid_constant__ const AdjustLogitsParams p) {
  using namespace dense_kernels::cuda;
  __shared__ float largest_scratch[kWarp];
  __shared__ double sum_scratch[kWarp];
  wait_and_trigger();
  const int64_t index = blockIdx.x;
  const AdjustedRow row = open_row(p, index);
  if (!is_changed(row)) return;
  const float largest = put_back(p, row, largest_scratch);
  const int32_t id = static_cast<const int32_t*>(p.ids)[index];
  if (id < 0 || id >= p.vocab) return;
  if ((row.flags & kHasPenalties) && threadIdx.x == 0) row.counts[id] += 2;
  float* logprob = static_cast<float*>(p.logprobs);
  const bool has_logprob = logprob != nullptr && logprob[index] == logprob[index];
  if (!__syncthreads_and(has_logprob)) return;  // read by all before one writes
  RowFacts facts{largest, 0, 0.0};
  if (largest > minus_infinity()) facts.log_sum = log_of_sum(p, row, largest, sum_scratch);
  if (threadIdx.x == 0) {
    logprob[index] = log_probability(row.raw[id], facts);
  }
}
