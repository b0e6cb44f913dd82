// Sampling on CUDA: three launches, each with blocks over the parts of a row (x) and over rows (y).
// The first finds the largest logit and the sum of each part. The second joins them; greedy rows
// end here; the others get the weight of each part or, with top-k or top-p, count and weight of
// bins. The third lists the ids of the bins where the cut lies; the last block of a row to end
// makes the cut and draws. Nothing that is written depends on how many blocks there are. Bound by
// three reads of the logits.
#include "device/sampling_draw.cuh"

namespace dense_kernels::cuda {
namespace {

// For the counters of the later launches. By the first block of the row.
__device__ inline void clear_row(const RowMemory& memory) {
  memory.bin_weights[threadIdx.x] = 0;
  memory.bin_counts[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    memory.state->done = 0;
    memory.state->listed = 0;
    memory.state->least_key = 0xffffffffu;
    memory.state->most_key = 0;
  }
}

// By the first block of the row: its state for the third launch, and greedy and padding rows.
__device__ inline void finish_facts(const SamplingParams& p, const SamplingRow& row,
                                    const Extremes& all, FactsScratch& scratch) {
  const RowFacts facts = join_sums(row.memory.facts, row.parts, all, scratch);
  if (threadIdx.x != 0) return;
  RowState& state = *row.memory.state;
  state.log_sum = facts.log_sum;
  state.largest = facts.largest;
  state.id = facts.id;
  state.smallest = all.smallest;
  const bool is_usable = facts.largest > minus_infinity();
  if (!row.is_sampled || !is_usable) write_row(p, row, facts.id, facts);
}

__device__ __forceinline__ bool is_padding(const SamplingParams& p, const SamplingRow& row) {
  return static_cast<const int32_t*>(p.positions)[row.index] < 0;
}

// Weight of what may be drawn of a part, when nothing but min-p filters.
__device__ inline void weigh_part(const SamplingRow& row, float largest, int part,
                                  const float (&logit)[kOwnIds]) {
  Measure sum = 0;
#pragma unroll
  for (int i = 0; i < kOwnIds; ++i) {
    const float weight = weigh(row, largest, logit[i]);
    if (weight >= row.least) sum += fixed_point(row, weight);
  }
  add_to_part(row, part, sum);
}

// Ranks of a warp to the list of the row, in any order; `count` of this thread.
__device__ inline void list_ranks(const RowMemory& memory, const Rank (&ranks)[kOwnIds],
                                  int count) {
  if (!__any_sync(kAllLanes, count > 0)) return;
  const Measure until = warp_scan(static_cast<Measure>(count));
  uint32_t begin = 0;
  const uint32_t last = static_cast<uint32_t>(until);
  if (lane_id() == kWarp - 1) begin = atomicAdd(&memory.state->listed, last);
  begin = __shfl_sync(kAllLanes, begin, kWarp - 1) + last - count;
#pragma unroll
  for (int i = 0; i < kOwnIds; ++i) {
    if (ranks[i] != 0) memory.list[begin++] = ranks[i];
  }
}

// Where the ranks are too many for the list, their smallest and largest key are kept.
__device__ inline void bound_keys(const RowMemory& memory, const Rank (&ranks)[kOwnIds],
                                  int count) {
  if (!__any_sync(kAllLanes, count > 0)) return;
  uint32_t least = 0xffffffffu;
  uint32_t most = 0;
#pragma unroll
  for (int i = 0; i < kOwnIds; ++i) {
    const uint32_t key = static_cast<uint32_t>(ranks[i] >> 32);
    if (ranks[i] == 0) continue;
    least = min(least, key);
    most = max(most, key);
  }
  least = ~warp_max(~least);
  most = warp_max(most);
  if (lane_id() == 0) {
    atomicMin(&memory.state->least_key, least);
    atomicMax(&memory.state->most_key, most);
  }
}

// Sums what surely stays of a part, and lists the ids where the cut lies. A rank is not 0.
__device__ inline void list_part(const SamplingRow& row, const BinScale& scale, int part,
                                 const float (&logit)[kOwnIds], bool fits_list,
                                 const BinCut& cut) {
  Rank ranks[kOwnIds];
  int count = 0;
  Measure sum = 0;
#pragma unroll
  for (int i = 0; i < kOwnIds; ++i) {
    ranks[i] = 0;
    const float weight = weigh(row, scale.largest, logit[i]);
    const Measure measure = fixed_point(row, weight);
    if (measure == 0) continue;
    const int bin = scale.bin(logit[i]);
    if (bin < cut.first) {
      if (weight >= row.least) sum += measure;
    } else if (is_listed(cut, bin)) {
      ranks[i] = rank_of(logit[i], first_own_id(part) + i);
      ++count;
    }
  }
  if (fits_list) {
    list_ranks(row.memory, ranks, count);
  } else {
    bound_keys(row.memory, ranks, count);
  }
  add_to_part(row, part, sum);
}

// Whether all other blocks of the row have ended; what they wrote is visible then.
__device__ inline bool is_last_block(RowState* state, bool& scratch) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) scratch = atomicAdd(&state->done, 1u) == gridDim.x - 1;
  __syncthreads();
  __threadfence();
  return scratch;
}

// Top-k and top-p.
__device__ inline void draw_filtered(const SamplingParams& p, const SamplingRow& row,
                                     CutScratch& scratch) {
  const float largest = row.memory.state->largest;
  const BinScale scale = bin_scale(row, largest, row.memory.state->smallest);
  find_cut_bins(row, scratch.bins);
  const int count = count_listed(scratch.bins);
  const bool fits_list = count <= kMostListed;
  for_own_parts(row, [&](int part, const float(&logit)[kOwnIds]) {
    list_part(row, scale, part, logit, fits_list, scratch.bins);
  });
  if (!is_last_block(row.memory.state, scratch.is_last)) return;
  const Rank cut = fits_list ? cut_by_list(row, largest, count, scratch)
                             : cut_by_search(row, largest, scratch);
  draw(p, row, cut, scratch);
}

}  // namespace
}  // namespace dense_kernels::cuda

extern "C" __global__ void __launch_bounds__(512, 3)
    sampling_facts(__grid_constant__ const SamplingParams p) {
  using namespace dense_kernels::cuda;
  __shared__ FactsScratch scratch;
  const SamplingRow row = open_row(p);
  if (is_padding(p, row)) return;
  if (blockIdx.x == 0) clear_row(row.memory);
  for_own_parts(row, [&](int part, const float(&logit)[kOwnIds]) {
    const PartFacts facts = find_part_facts(part, logit, scratch);
    if (threadIdx.x != 0) return;
    row.memory.facts[part] = facts;
    row.memory.part_sums[part] = 0;
  });
}

extern "C" __global__ void __launch_bounds__(512, 3)
    sampling_weights(__grid_constant__ const SamplingParams p) {
  using namespace dense_kernels::cuda;
  __shared__ FactsScratch facts_scratch;
  __shared__ BinScratch bin_scratch;
  const SamplingRow row = open_row(p);
  if (is_padding(p, row)) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      static_cast<int32_t*>(p.ids)[row.index] = -1;
      static_cast<float*>(p.logprobs)[row.index] = 0.0f;
    }
    return;
  }
  if (!row.is_sampled && blockIdx.x > 0) return;
  const Extremes all = join_extremes(row.memory.facts, row.parts, facts_scratch);
  if (blockIdx.x == 0) finish_facts(p, row, all, facts_scratch);
  if (!row.is_sampled || !(all.largest > minus_infinity())) return;
  const BinScale scale = bin_scale(row, all.largest, all.smallest);
  if (has_filter(row)) {
    for_own_parts(row, [&](int, const float(&logit)[kOwnIds]) {
      add_to_bins(row, scale, logit, bin_scratch);
    });
  } else {
    for_own_parts(row, [&](int part, const float(&logit)[kOwnIds]) {
      weigh_part(row, all.largest, part, logit);
    });
  }
}

extern "C" __global__ void __launch_bounds__(512, 2)
    sampling(__grid_constant__ const SamplingParams p) {
  using namespace dense_kernels::cuda;
  __shared__ CutScratch scratch;
  const SamplingRow row = open_row(p);
  if (!row.is_sampled || !(row.memory.state->largest > minus_infinity())) return;
  if (has_filter(row)) {
    draw_filtered(p, row, scratch);
  } else if (blockIdx.x == 0) {
    draw(p, row, 0, scratch);
  }
}
