// Top logprobs on CUDA: two launches, the first with blocks over the parts of a row (x) and over
// rows (y), the second with a block a row. The first finds the largest logit and the sum of each
// part, and sorts it for the best it has; the second joins the parts and merges their best.
#include "dense_kernels/top_logprobs.h"
#include "device/parts.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int kMerged = 2 * kPart;  // ranks that the second launch sorts at once

struct TopRow {
  const float* logits;
  int64_t index;
  int parts;
  int32_t chosen;     // id asked for
  bool is_padding;
  PartFacts* facts;   // [parts]
  Rank* best;         // [parts, own] of each part, descending; 0 behind its last
  int own;            // a part's share of the best, at most kPart
};

// `blockIdx.y` counts the rows of a launch. The size of the scratch is in src/top-logprobs.plan.ts.
__device__ inline TopRow open_row(const TopLogprobsParams& p) {
  TopRow row;
  row.index = int64_t{p.first_row} + blockIdx.y;
  row.logits = static_cast<const float*>(p.logits) + row.index * p.logits_stride;
  row.parts = parts_of(p.vocab);
  row.chosen = static_cast<const int32_t*>(p.ids)[row.index];
  row.is_padding = row.chosen < 0 || row.chosen >= p.vocab;
  row.own = p.count;
  const int64_t bytes =
      row.parts * (int64_t{sizeof(PartFacts)} + row.own * int64_t{sizeof(Rank)});
  char* memory = static_cast<char*>(p.workspace) + blockIdx.y * bytes;
  row.facts = reinterpret_cast<PartFacts*>(memory);
  row.best = reinterpret_cast<Rank*>(row.facts + row.parts);
  return row;
}

__device__ inline void write_padding(const TopLogprobsParams& p, int64_t row) {
  if (threadIdx.x == 0) static_cast<float*>(p.chosen)[row] = 0.0f;
  for (int i = threadIdx.x; i < p.count; i += kPartThreads) {
    static_cast<int32_t*>(p.best_ids)[row * p.count + i] = -1;
    static_cast<float*>(p.best_logprobs)[row * p.count + i] = 0.0f;
  }
}

// The front of `list` gets the best of the row, descending. The list keeps `own` and takes as many
// others as it has place for, until all parts were seen.
__device__ inline void merge_best(const TopRow& row, Rank* list) {
  const int total = row.parts * row.own;
  int kept = 0;
  for (int next = 0; next < total;) {
    const int taken = min(kMerged - kept, total - next);
    int size = 1;
    while (size < kept + taken) size *= 2;
    for (int i = threadIdx.x; kept + i < size; i += kPartThreads) {
      list[kept + i] = i < taken ? row.best[next + i] : 0;
    }
    sort_descending(list, size);
    next += taken;
    kept = min(row.own, size);
  }
}

}  // namespace
}  // namespace dense_kernels::cuda

extern "C" __global__ void __launch_bounds__(512, 2)
    top_logprobs_parts(__grid_constant__ const TopLogprobsParams p) {
  using namespace dense_kernels::cuda;
  __shared__ FactsScratch scratch;
  __shared__ Rank list[kPart];
  const TopRow row = open_row(p);
  if (row.is_padding) return;
  const bool aligned = is_aligned(row.logits);
  for (int part = blockIdx.x; part < row.parts; part += gridDim.x) {
    float logit[kOwnIds];
    load_logits(row.logits, int64_t{part} * kPart + threadIdx.x * kOwnIds, p.vocab, aligned, logit);
    const PartFacts facts = find_part_facts(part, logit, scratch);
    if (threadIdx.x == 0) row.facts[part] = facts;
    if (p.count == 0) continue;
    __syncthreads();  // the list of the part before is written
#pragma unroll
    for (int i = 0; i < kOwnIds; ++i) {
      const int id = first_own_id(part) + i;
      list[threadIdx.x * kOwnIds + i] = id < p.vocab ? rank_of(logit[i], id) : 0;
    }
    sort_descending(list, kPart);
    for (int i = threadIdx.x; i < row.own; i += kPartThreads) {
      row.best[int64_t{part} * row.own + i] = list[i];
    }
  }
}

extern "C" __global__ void __launch_bounds__(512, 2)
    top_logprobs(__grid_constant__ const TopLogprobsParams p) {
  using namespace dense_kernels::cuda;
  __shared__ FactsScratch scratch;
  __shared__ Rank list[kMerged];
  const TopRow row = open_row(p);
  if (row.is_padding) {
    write_padding(p, row.index);
    return;
  }
  const Extremes all = join_extremes(row.facts, row.parts, scratch);
  const RowFacts facts = join_sums(row.facts, row.parts, all, scratch);
  if (threadIdx.x == 0) {
    static_cast<float*>(p.chosen)[row.index] = log_probability(row.logits[row.chosen], facts);
  }
  merge_best(row, list);
  for (int i = threadIdx.x; i < p.count; i += kPartThreads) {
    static_cast<int32_t*>(p.best_ids)[row.index * p.count + i] = id_of(list[i]);
    static_cast<float*>(p.best_logprobs)[row.index * p.count + i] =
        log_probability(logit_of(list[i]), facts);
  }
}
