// Attention to the chosen blocks on the CPU: the walk of paged_attention (attend.h) over the list
// of the token and KV head.
#include "attention_kernels/sparse_attention.h"

#include "attend.h"

namespace attention_kernels {
namespace {

void sparse_attention(const SparseAttentionParams* p, const CpuContext* context, bool is_f32) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  const Attend a = {
      .q = p->q,
      .k_cache = p->k_cache,
      .v_cache = p->v_cache,
      .blocks = p->blocks,
      .page_table = p->page_table,
      .positions = p->positions,
      .sequence_ids = p->sequence_ids,
      .out = p->out,
      .tokens = p->tokens,
      .heads = p->heads,
      .kv_heads = p->kv_heads,
      .head_dim = p->head_dim,
      .topk_blocks = p->topk_blocks,
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

extern "C" void sparse_attention_bf16(const SparseAttentionParams* p, const CpuContext* context) {
  attention_kernels::sparse_attention(p, context, false);
}

extern "C" void sparse_attention_f32(const SparseAttentionParams* p, const CpuContext* context) {
  attention_kernels::sparse_attention(p, context, true);
}
