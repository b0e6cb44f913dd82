// Block scores on the CPU: cuts the work, picks the instruction set; and the baseline rows.
//
// An item is a few neighbouring tokens and a stretch of blocks, so that one decode row over a long
// context still feeds every thread. Reads index_dim elements per key and item; the index heads and
// the tokens of an item share them.
#include "vector/baseline.h"

#include "score_body.h"

namespace attention_kernels {

void score_rows_baseline(const BlockScoresParams& p, const ScoreRows& rows) {
  score_rows_body(p, rows);
}

namespace {

using ScoreRowsFunction = void (*)(const BlockScoresParams&, const ScoreRows&);

ScoreRowsFunction rows_function(uint32_t level) {
#ifdef CRT_X86
  if (level >= kCpuAvx512) return score_rows_avx512;
  if (level >= kCpuAvx2) return score_rows_avx2;
#endif
  (void)level;
  return score_rows_baseline;
}

constexpr int32_t kItemTokens = 8;
constexpr int32_t kItemBlocks = 8;

struct ScoreLoop {
  const BlockScoresParams* p;
  ScoreRowsFunction rows_function;
  bool is_f32;
  int32_t item_tokens, stretches;  // stretches = items per token block
};

// Blocks of a token that need a score: none while it may have all of them.
int32_t scored_blocks(const BlockScoresParams& p, int32_t token) {
  const int32_t blocks = candidate_blocks(p.positions[token], p.page_tokens, p.max_pages);
  return blocks <= p.topk_blocks ? 0 : blocks;
}

// A run of tokens shares a sequence and is scored as far as its last token needs; a shorter
// neighbour then has -inf behind its own block, which nobody reads.
void score_item(const ScoreLoop& loop, int64_t item) {
  const BlockScoresParams& p = *loop.p;
  const int32_t first_block = static_cast<int32_t>(item % loop.stretches) * kItemBlocks;
  const int32_t begin = static_cast<int32_t>(item / loop.stretches) * loop.item_tokens;
  const int32_t end = p.first_token + smaller(p.tokens, begin + loop.item_tokens);
  for (int32_t token = p.first_token + begin; token < end;) {
    int32_t next = token;
    int32_t most = 0;
    while (next < end && p.sequence_ids[next] == p.sequence_ids[token]) {
      const int32_t blocks = scored_blocks(p, next++);
      most = blocks > most ? blocks : most;
    }
    const int32_t blocks = smaller(most - first_block, kItemBlocks);
    if (blocks > 0) {
      loop.rows_function(p, {token, next - token, first_block, blocks, loop.is_f32});
    }
    token = next;
  }
}

void block_scores(const BlockScoresParams* p, const CpuContext* context, bool is_f32) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  const int32_t most = rows_per_call(p->index_dim) / p->index_heads;
  ScoreLoop loop = {p, rows_function(context->level), is_f32,
                    most < 1 ? 1 : smaller(most, kItemTokens),
                    (p->max_pages + kItemBlocks - 1) / kItemBlocks};
  const int64_t token_blocks = (p->tokens + loop.item_tokens - 1) / loop.item_tokens;
  context->parallel_for(
      context, token_blocks * loop.stretches, 1,
      [](void* argument, int64_t begin, int64_t end) {
        const ScoreLoop& l = *static_cast<const ScoreLoop*>(argument);
        for (int64_t i = begin; i < end; ++i) score_item(l, i);
      },
      &loop);
}

}  // namespace
}  // namespace attention_kernels

extern "C" void block_scores_bf16(const BlockScoresParams* p, const CpuContext* context) {
  attention_kernels::block_scores(p, context, false);
}

extern "C" void block_scores_f32(const BlockScoresParams* p, const CpuContext* context) {
  attention_kernels::block_scores(p, context, true);
}
