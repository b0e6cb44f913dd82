// Choice of blocks on the CPU: the best of a row of scores, in ascending order.
//
// One pass with a sorted list of the best so far: a block enters only if it beats the worst of the
// list, so that among equals the lower id, which came first, stays. Compares nb numbers per row
// and moves few: after the first blocks of a row entries are rare.
#include "attention_kernels/block_topk.h"

#include "cuda_runtime/abi.h"
#include "tile_limits.h"

namespace attention_kernels {
namespace {

constexpr int kMaxTopk = 1024;

struct Best {
  float scores[kMaxTopk];
  int32_t blocks[kMaxTopk];
  int32_t count;
};

void offer(Best& best, int32_t topk, float score, int32_t block) {
  if (best.count == topk && !(score > best.scores[topk - 1])) return;
  int32_t place = best.count < topk ? best.count++ : topk - 1;
  for (; place > 0 && score > best.scores[place - 1]; --place) {
    best.scores[place] = best.scores[place - 1];
    best.blocks[place] = best.blocks[place - 1];
  }
  best.scores[place] = score;
  best.blocks[place] = block;
}

void sort_ascending(int32_t* blocks, int32_t count) {
  for (int32_t i = 1; i < count; ++i) {
    const int32_t block = blocks[i];
    int32_t place = i;
    for (; place > 0 && blocks[place - 1] > block; --place) blocks[place] = blocks[place - 1];
    blocks[place] = block;
  }
}

// More candidates than topk: the forced blocks, and the best of those between them.
void choose_best(const BlockTopkParams& p, const float* scores, int32_t candidates,
                 int32_t* blocks) {
  const int32_t topk = p.topk_blocks;
  const int32_t first = smaller(p.init_blocks, topk);
  const int32_t local = smaller(p.local_blocks, topk - first);
  Best best;
  best.count = 0;
  for (int32_t b = first; b < candidates - local && first + local < topk; ++b) {
    const float score = scores[b] == scores[b] ? scores[b] : kMinusInfinity;
    offer(best, topk - first - local, score, b);
  }
  sort_ascending(best.blocks, best.count);
  for (int32_t i = 0; i < first; ++i) *blocks++ = i;
  for (int32_t i = 0; i < best.count; ++i) *blocks++ = best.blocks[i];
  for (int32_t i = local; i > 0; --i) *blocks++ = candidates - i;
}

// 1. all candidates if there are no more than topk; 2. else the forced ones and the best others,
// ties to the lower id, NaN as -inf; 3. ascending, -1 behind.
void choose(const BlockTopkParams& p, const float* scores, int32_t position, int32_t* blocks) {
  const int32_t candidates = candidate_blocks(position, p.page_tokens, p.max_pages);
  if (candidates > p.topk_blocks) {
    choose_best(p, scores, candidates, blocks);
    return;
  }
  for (int32_t i = 0; i < p.topk_blocks; ++i) blocks[i] = i < candidates ? i : -1;
}

void choose_tokens(void* argument, int64_t begin, int64_t end) {
  const BlockTopkParams& p = *static_cast<const BlockTopkParams*>(argument);
  for (int64_t row = begin; row < end; ++row) {
    const int64_t token = p.first_token + row / p.index_heads;
    const int64_t head = row % p.index_heads;
    int32_t* blocks = p.blocks + (head * p.total_tokens + token) * p.topk_blocks;
    choose(p, p.scores + row * p.max_pages, p.positions[token], blocks);
  }
}

}  // namespace
}  // namespace attention_kernels

extern "C" void block_topk(const BlockTopkParams* p, const CpuContext* context) {
  constexpr int64_t kGrain = 4;  // rows
  BlockTopkParams copy = *p;
  context->parallel_for(context, static_cast<int64_t>(p->tokens) * p->index_heads, kGrain,
                        attention_kernels::choose_tokens, &copy);
}
