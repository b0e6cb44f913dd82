// One row of sampling as its three launches see it, and the scratch memory through which they hand
// on what they found.
//
// Sums of weights are sums of integers: a weight w <= 1 counts as floor(w * 2^shift), `shift` at
// most 41 and so that the whole vocabulary fits 62 bits. So they are exact, and the same in any
// order. An id whose weight is below 2^-shift is impossible.
#ifndef DENSE_KERNELS_CUDA_SAMPLING_ROW_CUH
#define DENSE_KERNELS_CUDA_SAMPLING_ROW_CUH

#include "dense_kernels/sampling.h"
#include "parts.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int kWeightBins = kPartThreads;  // a bin a thread
constexpr int kMostListed = 4096;
constexpr int kWeightBits = 41;

// What the second launch knows of a row, and what the blocks of the third count.
struct RowState {
  double log_sum;
  float largest;
  int32_t id;
  float smallest;
  uint32_t done;       // blocks of the third launch that have ended
  uint32_t listed;     // ranks in the list
  uint32_t least_key;  // of the ids that would be listed, if they are too many
  uint32_t most_key;
  uint32_t unused[5];
};
static_assert(sizeof(RowState) == 56);

// Scratch memory of a row; its size is in src/sampling.plan.ts.
struct RowMemory {
  Measure* bin_weights;  // [kWeightBins]
  Rank* list;            // [kMostListed]
  RowState* state;
  uint32_t* bin_counts;  // [kWeightBins]
  PartFacts* facts;      // [parts]
  Measure* part_sums;    // [parts] weight of what may be drawn
};

struct SamplingRow {
  const float* logits;
  int64_t index;
  int vocab;
  int parts;
  bool is_aligned;
  bool is_sampled;  // false: padding or greedy
  float temperature;
  int32_t top_k;  // 0 = off
  float top_p;    // 1 = off
  float least;    // weight that an id needs
  float one;      // 2^shift
  RowMemory memory;
};

// `blockIdx.y` counts the rows of a launch.
__device__ inline SamplingRow open_row(const SamplingParams& p) {
  SamplingRow row;
  const int64_t at = int64_t{p.first_row} + blockIdx.y;
  row.index = at;
  row.logits = static_cast<const float*>(p.logits) + at * p.logits_stride;
  row.vocab = p.vocab;
  row.parts = parts_of(p.vocab);
  row.is_aligned = is_aligned(row.logits);
  row.temperature = static_cast<const float*>(p.temperature)[at];
  row.is_sampled = static_cast<const int32_t*>(p.positions)[at] >= 0 && row.temperature > 0.0f;
  const int32_t top_k = static_cast<const int32_t*>(p.top_k)[at];
  row.top_k = top_k > 0 && top_k < p.vocab ? top_k : 0;
  const float top_p = static_cast<const float*>(p.top_p)[at];
  row.top_p = top_p < 1.0f ? fmaxf(top_p, 0.0f) : 1.0f;
  const float min_p = static_cast<const float*>(p.min_p)[at];
  row.least = min_p > 0.0f ? fminf(min_p, 1.0f) : 0.0f;
  const int bits = min(kWeightBits, 62 - (32 - __clz(p.vocab)));
  row.one = __uint_as_float(static_cast<uint32_t>(127 + bits) << 23);
  constexpr int64_t kFixed = kWeightBins * 12 + kMostListed * 8 + sizeof(RowState);
  const int64_t bytes = kFixed + row.parts * int64_t{sizeof(PartFacts) + sizeof(Measure)};
  char* memory = static_cast<char*>(p.workspace) + blockIdx.y * bytes;
  row.memory.bin_weights = reinterpret_cast<Measure*>(memory);
  row.memory.list = row.memory.bin_weights + kWeightBins;
  row.memory.state = reinterpret_cast<RowState*>(row.memory.list + kMostListed);
  row.memory.bin_counts = reinterpret_cast<uint32_t*>(row.memory.state + 1);
  row.memory.facts = reinterpret_cast<PartFacts*>(row.memory.bin_counts + kWeightBins);
  row.memory.part_sums = reinterpret_cast<Measure*>(row.memory.facts + row.parts);
  return row;
}

__device__ __forceinline__ bool has_filter(const SamplingRow& row) {
  return row.top_k > 0 || row.top_p < 1.0f;
}

__device__ __forceinline__ void load_own(const SamplingRow& row, int part,
                                         float (&value)[kOwnIds]) {
  load_logits(row.logits, int64_t{part} * kPart + threadIdx.x * kOwnIds, row.vocab, row.is_aligned,
              value);
}

// visit(part, logits of this thread) for the parts of this block, each read while the one before it
// is worked on.
template <typename Visit>
__device__ __forceinline__ void for_own_parts(const SamplingRow& row, const Visit& visit) {
  float logit[kOwnIds];
  load_own(row, blockIdx.x, logit);
  for (int part = blockIdx.x; part < row.parts; part += gridDim.x) {
    float next[kOwnIds];
    load_own(row, part + gridDim.x, next);  // nothing is read behind the last
    visit(part, logit);
#pragma unroll
    for (int i = 0; i < kOwnIds; ++i) logit[i] = next[i];
  }
}

// Weight of a safe logit; an impossible id stays impossible at any temperature.
__device__ __forceinline__ float weigh(const SamplingRow& row, float largest, float logit) {
  const float below = logit - largest;
  if (below == minus_infinity()) return 0.0f;
  return expf(below / row.temperature);
}

__device__ __forceinline__ Measure fixed_point(const SamplingRow& row, float weight) {
  return __float2ull_rz(weight * row.one);
}

// Adds what the threads of a warp found of a part.
__device__ __forceinline__ void add_to_part(const SamplingRow& row, int part, Measure sum) {
  if (!__any_sync(kAllLanes, sum > 0)) return;
  sum = warp_sum(sum);
  if (lane_id() == 0) atomicAdd(&row.memory.part_sums[part], sum);
}

}  // namespace
}  // namespace dense_kernels::cuda

#endif
