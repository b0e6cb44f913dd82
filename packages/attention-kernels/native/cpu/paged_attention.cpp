// Dense causal attention on the CPU, and the walk that sparse_attention shares with it: cuts the
// work, picks the instruction set; and the baseline rows.
//
// An item is a few neighbouring tokens, one KV head and some of its query heads. The cut follows
// the number of threads so that a single decode row still feeds them all; results do not depend on
// it (attend_body.h). Reads each page once per item: K and V are shared by the rows of the item.
#include "attention_kernels/paged_attention.h"

#include "vector/baseline.h"

#include "attend_body.h"

namespace attention_kernels {

void attend_rows_baseline(const Attend& a, const AttendRows& rows) { attend_rows_body(a, rows); }

namespace {

using AttendRowsFunction = void (*)(const Attend&, const AttendRows&);

// Pages of fewer keys than a vector has lanes leave half of AVX-512 empty: AVX2 is 1.4 times faster
// there (docs/paged-attention.md). The choice is by shape, so it is the same in every batch.
AttendRowsFunction rows_function(uint32_t level, int32_t page_tokens) {
#ifdef CRT_X86
  if (level >= kCpuAvx512 && page_tokens >= 16) return attend_rows_avx512;
  if (level >= kCpuAvx2) return attend_rows_avx2;
#endif
  (void)level, (void)page_tokens;
  return attend_rows_baseline;
}

struct AttendLoop {
  const Attend* a;
  AttendRowsFunction rows_function;
  int32_t item_tokens, item_heads, parts;  // parts = items per KV head and token block
  int64_t items;
};

AttendLoop plan_loop(const Attend& a, const CpuContext* context) {
  const int32_t group = a.heads / a.kv_heads;
  const int32_t most_rows = rows_per_call(a.head_dim);
  const int64_t wanted = 4 * static_cast<int64_t>(context->threads);
  AttendLoop loop = {
      &a, rows_function(context->level, a.page_tokens), 1, smaller(group, most_rows), 1, 0};
  const auto items = [&](int32_t tokens, int32_t heads) {
    const int64_t blocks = (a.tokens + tokens - 1) / tokens;
    return blocks * a.kv_heads * ((group + heads - 1) / heads);
  };
  while (a.blocks == nullptr && 2 * loop.item_tokens * loop.item_heads <= most_rows &&
         items(2 * loop.item_tokens, loop.item_heads) >= wanted) {
    loop.item_tokens *= 2;
  }
  while (loop.item_heads > 4 && items(loop.item_tokens, loop.item_heads) < context->threads) {
    loop.item_heads = (loop.item_heads + 1) / 2;
  }
  loop.parts = (group + loop.item_heads - 1) / loop.item_heads;
  loop.items = items(loop.item_tokens, loop.item_heads);
  return loop;
}

// The tokens of an item, one call for each run that stays in one sequence.
void attend_item(const AttendLoop& loop, int64_t item) {
  const Attend& a = *loop.a;
  const int32_t group = a.heads / a.kv_heads;
  const int32_t part = static_cast<int32_t>(item % loop.parts);
  const int32_t kv_head = static_cast<int32_t>(item / loop.parts % a.kv_heads);
  const int32_t begin = static_cast<int32_t>(item / loop.parts / a.kv_heads) * loop.item_tokens;
  const int32_t end = begin + smaller(a.tokens - begin, loop.item_tokens);
  const int32_t first = part * loop.item_heads;
  const int32_t heads = smaller(group - first, loop.item_heads);
  for (int32_t token = begin; token < end;) {
    int32_t next = token + 1;
    while (next < end && a.sequence_ids[next] == a.sequence_ids[token]) ++next;
    loop.rows_function(a, {token, next - token, kv_head * group + first, heads});
    token = next;
  }
}

}  // namespace

void attend(const Attend& a, const CpuContext* context) {
  AttendLoop loop = plan_loop(a, context);
  context->parallel_for(
      context, loop.items, 1,
      [](void* argument, int64_t begin, int64_t end) {
        const AttendLoop& l = *static_cast<const AttendLoop*>(argument);
        // Last tokens first: in a prefill chunk they have the longest contexts.
        for (int64_t i = begin; i < end; ++i) attend_item(l, l.items - 1 - i);
      },
      &loop);
}

namespace {

void paged_attention(const PagedAttentionParams* p, const CpuContext* context, bool is_f32) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  const Attend a = {
      .q = p->q,
      .k_cache = p->k_cache,
      .v_cache = p->v_cache,
      .blocks = nullptr,
      .page_table = p->page_table,
      .positions = p->positions,
      .sequence_ids = p->sequence_ids,
      .out = p->out,
      .tokens = p->tokens,
      .heads = p->heads,
      .kv_heads = p->kv_heads,
      .head_dim = p->head_dim,
      .topk_blocks = 0,
      .pages = p->pages,
      .page_tokens = p->page_tokens,
      .sequences = p->sequences,
      .max_pages = p->max_pages,
      .scale = p->scale,
      .is_f32 = is_f32,
  };
  attend(a, context);
}

}  // namespace
}  // namespace attention_kernels

extern "C" void paged_attention_bf16(const PagedAttentionParams* p, const CpuContext* context) {
  attention_kernels::paged_attention(p, context, false);
}

extern "C" void paged_attention_f32(const PagedAttentionParams* p, const CpuContext* context) {
  attention_kernels::paged_attention(p, context, true);
}
