// Choice of blocks on the CPU: the entry, forced blocks, and the baseline level.
//
// Baseline: one pass with a sorted list of the best so far. A block enters only if it beats the
// worst of the list, so that among equals the lower id, which came first, stays. Compares nb
// numbers per row and moves few: after the first blocks of a row entries are rare.
#include "attention_kernels/block_topk.h"

#include "best_blocks.h"
#include "cuda_runtime/abi.h"
#include "vector/tile_limits.h"

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

void best_blocks_baseline(const float* scores, int32_t count, int32_t wanted, int32_t first,
                          int32_t* blocks) {
  Best best;
  best.count = 0;
  for (int32_t b = 0; b < count; ++b) {
    offer(best, wanted, scores[b] == scores[b] ? scores[b] : kMinusInfinity, first + b);
  }
  sort_ascending(best.blocks, best.count);
  for (int32_t i = 0; i < best.count; ++i) blocks[i] = best.blocks[i];
}

// What a piece of the rows needs.
struct Choice {
  const BlockTopkParams* p;
  BestBlocksFunction best_blocks;
};

// More candidates than topk: the forced blocks, and the best of those between them.
void choose_best(const Choice& choice, const float* scores, int32_t candidates, int32_t* blocks) {
  const BlockTopkParams& p = *choice.p;
  const int32_t first = smaller(p.init_blocks, p.topk_blocks);
  const int32_t local = smaller(p.local_blocks, p.topk_blocks - first);
  const int32_t wanted = p.topk_blocks - first - local;
  for (int32_t i = 0; i < first; ++i) *blocks++ = i;
  if (wanted > 0) {
    choice.best_blocks(scores + first, candidates - first - local, wanted, first, blocks);
  }
  blocks += wanted;
  for (int32_t i = local; i > 0; --i) *blocks++ = candidates - i;
}

// 1. all candidates if there are no more than topk; 2. else the forced ones and the best others,
// ties to the lower id, NaN as -inf; 3. ascending, -1 behind.
void choose(const Choice& choice, const float* scores, int32_t position, int32_t* blocks) {
  const BlockTopkParams& p = *choice.p;
  const int32_t candidates = candidate_blocks(position, p.page_tokens, p.max_pages);
  if (candidates > p.topk_blocks) {
    choose_best(choice, scores, candidates, blocks);
    return;
  }
  for (int32_t i = 0; i < p.topk_blocks; ++i) blocks[i] = i < candidates ? i : -1;
}

void choose_tokens(void* argument, int64_t begin, int64_t end) {
  const Choice& choice = *static_cast<const Choice*>(argument);
  const BlockTopkParams& p = *choice.p;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t token = p.first_token + row / p.index_heads;
    const int64_t head = row % p.index_heads;
    int32_t* blocks = p.blocks + (head * p.total_tokens + token) * p.topk_blocks;
    choose(choice, p.scores + row * p.max_pages, p.positions[token], blocks);
  }
}

BestBlocksFunction best_blocks_function(uint32_t level) {
#ifdef CRT_X86
  if (level >= kCpuAvx2) return best_blocks_avx2;
#endif
  (void)level;
  return best_blocks_baseline;
}

}  // namespace
}  // namespace attention_kernels

extern "C" void block_topk(const BlockTopkParams* p, const CpuContext* context) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  constexpr int64_t kGrain = 4;  // rows
  attention_kernels::Choice choice = {p, attention_kernels::best_blocks_function(context->level)};
  context->parallel_for(context, static_cast<int64_t>(p->tokens) * p->index_heads, kGrain,
                        attention_kernels::choose_tokens, &choice);
}
