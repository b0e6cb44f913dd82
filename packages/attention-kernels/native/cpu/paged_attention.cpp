// Dense causal attention on the CPU: every block of the context, in order (attend.cpp).
#include "attention_kernels/paged_attention.h"

#include "attend.h"

namespace attention_kernels {
namespace {

void paged_attention(const PagedAttentionParams* p, const CpuContext* context, bool is_f32) {
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
