// Sampling on CUDA: a block of 1024 threads a slot, rows of a slot one after the other. Per row one
// pass for the largest logit and the log of the sum; without filters one more for the draw; with
// filters the candidates are listed once, and every selection makes the list shorter. Bound by what
// one multiprocessor reads from L2.
#include "dense_kernels/philox.h"
#include "dense_kernels/sampling.h"
#include "device/candidates.cuh"

namespace dense_kernels::cuda {
namespace {

struct RowSettings {
  float temperature;
  int32_t top_k;
  float top_p;
  float min_p;
};

struct Scratch {
  RowScratch row;
  SelectScratch select;
};

// Temperature, top-k, top-p, min-p, in this order, then the draw by ascending id.
__device__ inline int32_t draw(Candidates& list, int vocab, const RowFacts& row,
                               const RowSettings& settings, uint64_t unit_bits,
                               SelectScratch& scratch) {
  const bool by_k = settings.top_k > 0 && settings.top_k < vocab;
  const bool by_p = settings.top_p < 1.0f;
  const bool by_min = settings.min_p > 0.0f;
  if (!by_k && !by_p && !by_min) {
    const AllIds all{list.logits, row.largest, settings.temperature};
    return static_cast<int32_t>(inverse_cdf(all, vocab, list.one, 0.0f, unit_bits, scratch));
  }
  gather_possible(list, vocab, row, settings.temperature, scratch);
  if (by_k && settings.top_k < list.count) keep_best<false>(list, settings.top_k, scratch);
  if (by_p) {
    const double share = settings.top_p > 0.0f ? settings.top_p : 0.0;
    const double total = static_cast<double>(total_weight(list, scratch));
    keep_best<true>(list, static_cast<Measure>(ceil(share * total)), scratch);
  }
  const float least = by_min ? fminf(settings.min_p, 1.0f) : 0.0f;
  const ListedIds listed{list};
  return list.ids[inverse_cdf(listed, list.count, list.one, least, unit_bits, scratch)];
}

__device__ inline void write_row(const SamplingParams& p, int64_t row, int32_t id, float logprob) {
  if (threadIdx.x != 0) return;
  static_cast<int32_t*>(p.ids)[row] = id;
  static_cast<float*>(p.logprobs)[row] = logprob;
}

// All branches here are the same for the whole block.
__device__ inline void sample_row(const SamplingParams& p, int64_t row, Scratch& scratch) {
  const int32_t position = static_cast<const int32_t*>(p.positions)[row];
  if (position < 0) {
    write_row(p, row, -1, 0.0f);
    return;
  }
  const float* logits = static_cast<const float*>(p.logits) + row * p.logits_stride;
  const RowFacts facts = row_facts(logits, p.vocab, scratch.row);
  const RowSettings settings{
      static_cast<const float*>(p.temperature)[row], static_cast<const int32_t*>(p.top_k)[row],
      static_cast<const float*>(p.top_p)[row], static_cast<const float*>(p.min_p)[row]};
  int32_t id = facts.id;
  if (settings.temperature > 0.0f && facts.largest > minus_infinity()) {
    const uint64_t seed = static_cast<const uint64_t*>(p.seeds)[row];
    const PhiloxBlock block = philox({{static_cast<uint32_t>(position), 0, 0, 0}}, seed);
    const uint64_t bits = static_cast<uint64_t>(block.word[0]) << 32 | block.word[1];
    char* own = static_cast<char*>(p.workspace) + int64_t{blockIdx.x} * p.vocab * 8;
    Candidates list{logits, reinterpret_cast<int32_t*>(own),
                    reinterpret_cast<float*>(own + int64_t{4} * p.vocab), 0,
                    fixed_point_one(p.vocab)};
    id = draw(list, p.vocab, facts, settings, bits & ~uint64_t{2047}, scratch.select);
  }
  write_row(p, row, id, log_probability(logits[id], facts));
}

}  // namespace
}  // namespace dense_kernels::cuda

extern "C" __global__ void __launch_bounds__(1024, 1)
    sampling(__grid_constant__ const SamplingParams p) {
  using namespace dense_kernels::cuda;
  __shared__ Scratch scratch;
  for (int64_t row = blockIdx.x; row < p.rows; row += p.slots) {
    __syncthreads();  // the row before is done with scratch and workspace
    sample_row(p, row, scratch);
  }
}
