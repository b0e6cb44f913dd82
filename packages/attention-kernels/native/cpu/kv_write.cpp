// Copies a step's keys, values and index keys into their cache slots on the CPU: the entries, and
// the baseline level.
//
// Pure copies: 2 * width + index_dim elements per token, memory-bound. Slots of one step are
// distinct (the page pool gives each token its own), so tokens are independent.
#include "attention_kernels/kv_write.h"

#include <string.h>

#include "cuda_runtime/abi.h"
#include "kv_rows.h"

namespace attention_kernels {
namespace {

void copy_row(const KvRows& w, void* cache, int64_t slot, const void* rows, int64_t offset,
              int64_t width) {
  memcpy(static_cast<char*>(cache) + slot * width * w.element_bytes,
         static_cast<const char*>(rows) + offset * w.element_bytes, width * w.element_bytes);
}

void write_rows_baseline(void* argument, int64_t begin, int64_t end) {
  const KvRows& w = *static_cast<const KvRows*>(argument);
  const KvWriteParams& p = *w.p;
  for (int64_t token = begin; token < end; ++token) {
    const int64_t slot = p.slots[token];
    if (slot < 0 || slot >= p.cache_slots) continue;
    copy_row(w, p.k_cache, slot, p.k, token * p.k_stride, p.width);
    copy_row(w, p.v_cache, slot, p.v, token * p.v_stride, p.width);
    if (p.index_k != nullptr) {
      copy_row(w, p.index_cache, slot, p.index_k, token * p.index_k_stride, p.index_dim);
    }
  }
}

void kv_write(const KvWriteParams* p, const CpuContext* context, int64_t element_bytes) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  constexpr int64_t kGrain = 16;  // tokens; less is not worth waking a thread for
  KvRows rows = {p, element_bytes};
  CpuLoopBody write_rows = write_rows_baseline;
#ifdef CRT_X86
  if (context->level >= kCpuAvx2) write_rows = write_rows_avx2;
#endif
  context->parallel_for(context, p->tokens, kGrain, write_rows, &rows);
}

}  // namespace
}  // namespace attention_kernels

extern "C" void kv_write_bf16(const KvWriteParams* p, const CpuContext* context) {
  attention_kernels::kv_write(p, context, 2);
}

extern "C" void kv_write_f32(const KvWriteParams* p, const CpuContext* context) {
  attention_kernels::kv_write(p, context, 4);
}
