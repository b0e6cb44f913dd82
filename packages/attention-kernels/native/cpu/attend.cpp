// Attention: cuts the work, picks the instruction set; and the baseline rows.
//
// An item is a few neighbouring tokens, one KV head and some of its query heads. The cut follows
// the number of threads so that a single decode row still feeds them all; results do not depend on
// it (attend_body.h). Reads each page once per item: K and V are shared by the rows of the item.
#include "vector/baseline.h"

#include "attend_body.h"

namespace attention_kernels {

void attend_rows_baseline(const Attend& a, const AttendRows& rows) { attend_rows_body(a, rows); }

namespace {

using AttendRowsFunction = void (*)(const Attend&, const AttendRows&);

AttendRowsFunction rows_function(uint32_t level) {
#ifdef CRT_X86
  if (level >= kCpuAvx512) return attend_rows_avx512;
  if (level >= kCpuAvx2) return attend_rows_avx2;
#endif
  (void)level;
  return attend_rows_baseline;
}

struct AttendLoop {
  const Attend* a;
  AttendRowsFunction rows_function;
  int32_t item_tokens, item_heads, parts;  // parts = items per KV head and token block
};

AttendLoop plan_loop(const Attend& a, const CpuContext* context) {
  const int32_t group = a.heads / a.kv_heads;
  const int32_t most_rows = rows_per_call(a.head_dim);
  const int64_t wanted = 4 * static_cast<int64_t>(context->threads);
  AttendLoop loop = {&a, rows_function(context->level), 1, smaller(group, most_rows), 1};
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
  const int64_t blocks = (a.tokens + loop.item_tokens - 1) / loop.item_tokens;
  context->parallel_for(
      context, blocks * a.kv_heads * loop.parts, 1,
      [](void* argument, int64_t begin, int64_t end) {
        const AttendLoop& l = *static_cast<const AttendLoop*>(argument);
        for (int64_t item = begin; item < end; ++item) attend_item(l, item);
      },
      &loop);
}

}  // namespace attention_kernels
