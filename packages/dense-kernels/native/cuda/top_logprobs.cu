// Top logprobs on CUDA: a block of 1024 threads a row. One pass for the largest logit and the log of
// the sum, three for a radix select of the count-th best, one that gathers the best in ascending
// order of id; then each finds its place by counting those before it. Bound by what one
// multiprocessor reads from L2.
#include "dense_kernels/top_logprobs.h"
#include "device/select.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int kMost = 256;  // best ids a row; top-logprobs.ts refuses more

struct BestScratch {
  int32_t ids[kMost];
  uint32_t keys[kMost];
};

struct Scratch {
  RowScratch row;
  SelectScratch select;
  BestScratch best;
};

// Items for select: the vocabulary, each id measures 1.
struct VocabularyItems {
  const float* logits;
  __device__ uint32_t key(int64_t i) const { return ordered_bits(logits[i]); }
  __device__ Measure measure(int64_t) const { return 1; }
};

// Where the results of one row go.
struct BestOut {
  int32_t* ids;
  float* logprobs;
};

// The `count` best into scratch, ascending by id: keys above the cut, then the lowest ids at it.
__device__ inline void gather_best(const float* logits, int vocab, int count, Scratch& scratch) {
  const VocabularyItems items{logits};
  start_selection(scratch.select);
  uint32_t cut = 0;
  for (int digit = 0; digit < kDigits; ++digit) {
    cut = next_digit(items, vocab, digit, cut, count, scratch.select);
  }
  const Measure above = scratch.select.before;
  const Measure ties = count - above;
  Measure before = 0;  // low half: above the cut; high half: at it
  for (int64_t tile = 0; tile < vocab; tile += kRowThreads) {
    const int64_t id = tile + threadIdx.x;
    const uint32_t key = id < vocab ? items.key(id) : 0;
    const bool is_tie = id < vocab && key == cut;
    const Measure verdict = is_tie ? 1ull << 32 : id < vocab && key > cut ? 1ull : 0ull;
    Measure total = 0;
    if (__syncthreads_or(verdict != 0)) {
      const Measure mine = before + block_scan(verdict, scratch.select.warp_sums, total);
      const Measure tied = mine >> 32;
      if (verdict != 0 && (!is_tie || tied < ties)) {
        const Measure place = (mine & 0xffffffffull) + (tied < ties ? tied : ties);
        scratch.best.ids[place] = static_cast<int32_t>(id);
        scratch.best.keys[place] = key;
      }
    }
    before += total;
  }
  __syncthreads();
}

// Each of the gathered ones to the place that as many precede: a larger key, or the same one earlier.
__device__ inline void write_sorted(const float* logits, const RowFacts& row, int count,
                                    const BestScratch& best, const BestOut& out) {
  const int own = threadIdx.x;
  if (own >= count) return;
  const uint32_t key = best.keys[own];
  int place = 0;
  for (int other = 0; other < count; ++other) {
    const uint32_t other_key = best.keys[other];
    place += other_key > key || (other_key == key && other < own);
  }
  out.ids[place] = best.ids[own];
  out.logprobs[place] = log_probability(logits[best.ids[own]], row);
}

__device__ inline void write_padding(const TopLogprobsParams& p, float* chosen, const BestOut& out) {
  if (threadIdx.x == 0) *chosen = 0.0f;
  for (int i = threadIdx.x; i < p.count; i += kRowThreads) {
    out.ids[i] = -1;
    out.logprobs[i] = 0.0f;
  }
}

// All branches here are the same for the whole block.
__device__ inline void top_logprobs_row(const TopLogprobsParams& p, Scratch& scratch) {
  const int64_t row = blockIdx.x;
  const float* logits = static_cast<const float*>(p.logits) + row * p.logits_stride;
  const int32_t id = static_cast<const int32_t*>(p.ids)[row];
  float* chosen = static_cast<float*>(p.chosen) + row;
  const BestOut out{static_cast<int32_t*>(p.best_ids) + row * p.count,
                    static_cast<float*>(p.best_logprobs) + row * p.count};
  if (id < 0 || id >= p.vocab) {
    write_padding(p, chosen, out);
    return;
  }
  const RowFacts facts = row_facts(logits, p.vocab, scratch.row);
  if (threadIdx.x == 0) *chosen = log_probability(logits[id], facts);
  if (p.count == 0) return;
  gather_best(logits, p.vocab, p.count, scratch);
  write_sorted(logits, facts, p.count, scratch.best, out);
}

}  // namespace
}  // namespace dense_kernels::cuda

extern "C" __global__ void __launch_bounds__(1024, 1)
    top_logprobs(__grid_constant__ const TopLogprobsParams p) {
  __shared__ dense_kernels::cuda::Scratch scratch;
  dense_kernels::cuda::top_logprobs_row(p, scratch);
}
