// The draw: of the ids that may be drawn, the first whose running weight exceeds a share of the
// sum. Sums of the parts are there, so only the part that holds the id is read.
#ifndef DENSE_KERNELS_CUDA_SAMPLING_DRAW_CUH
#define DENSE_KERNELS_CUDA_SAMPLING_DRAW_CUH

#include "dense_kernels/random/philox.h"
#include "sampling_cut.cuh"

namespace dense_kernels::cuda {
namespace {

// One thread.
__device__ inline void write_row(const SamplingParams& p, const SamplingRow& row, int32_t id,
                                 const RowFacts& facts) {
  static_cast<int32_t*>(p.ids)[row.index] = id;
  static_cast<float*>(p.logprobs)[row.index] = log_probability(row.logits[id], facts);
}

// The part with the place `target`, and the weight before it, to scratch. `target` is below the
// sum.
__device__ inline void find_part(const SamplingRow& row, Measure target, CutScratch& scratch) {
  Measure running = 0;
  for (int tile = 0; tile < row.parts; tile += kPartThreads) {
    const int part = tile + threadIdx.x;
    const Measure own = part < row.parts ? __ldcg(row.memory.part_sums + part) : 0;
    Measure total;
    const Measure before = running + part_scan(own, scratch.sums, total);
    if (before <= target && target < before + own) {
      scratch.part = part;
      scratch.before = before;
    }
    running += total;
  }
  __syncthreads();
}

// Ranks from `cut` on may be drawn.
__device__ inline void draw(const SamplingParams& p, const SamplingRow& row, Rank cut,
                            CutScratch& scratch) {
  const RowState& state = *row.memory.state;
  const float largest = state.largest;
  Measure sum = 0;
  for (int part = threadIdx.x; part < row.parts; part += kPartThreads) {
    sum += __ldcg(row.memory.part_sums + part);
  }
  const Measure total = block_sum(sum, scratch.sums);
  const uint32_t position = static_cast<const uint32_t*>(p.positions)[row.index];
  const uint64_t seed = static_cast<const uint64_t*>(p.seeds)[row.index];
  const PhiloxBlock block = philox({{position, 0, 0, 0}}, seed);
  const uint64_t bits = static_cast<uint64_t>(block.word[0]) << 32 | block.word[1];
  const Measure target = __umul64hi(bits & ~uint64_t{2047}, total);  // 53 bits of a unit
  find_part(row, target, scratch);
  float logit[kOwnIds];
  load_own(row, scratch.part, logit);
  const int first = first_own_id(scratch.part);
  Measure weights[kOwnIds];
  Measure own = 0;
#pragma unroll
  for (int i = 0; i < kOwnIds; ++i) {
    const float weight = weigh(row, largest, logit[i]);
    const bool stays = weight >= row.least && rank_of(logit[i], first + i) >= cut;
    weights[i] = stays ? fixed_point(row, weight) : 0;
    own += weights[i];
  }
  Measure unused;
  Measure running = scratch.before + part_scan(own, scratch.sums, unused);
  const RowFacts facts{largest, state.id, state.log_sum};
#pragma unroll
  for (int i = 0; i < kOwnIds; ++i) {
    if (running <= target && target < running + weights[i]) write_row(p, row, first + i, facts);
    running += weights[i];
  }
}

}  // namespace
}  // namespace dense_kernels::cuda

#endif
