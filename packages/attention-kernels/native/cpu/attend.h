// What paged_attention and sparse_attention share: one walk over the pages of a sequence, so that
// the two agree bit for bit when every block is chosen.
#ifndef ATTENTION_KERNELS_ATTEND_H
#define ATTENTION_KERNELS_ATTEND_H

#include "cuda_runtime/abi.h"

namespace attention_kernels {

struct Attend {
  const void* q;               // [tokens, heads, head_dim]
  const void* k_cache;         // [pages, page_tokens, kv_heads, head_dim]
  const void* v_cache;         // as k_cache
  const int32_t* blocks;       // [kv_heads, tokens, topk_blocks]; null: all blocks of the context
  const int32_t* page_table;   // [sequences, max_pages]
  const int32_t* positions;    // [tokens]
  const int32_t* sequence_ids; // [tokens]
  void* out;                   // [tokens, heads, head_dim]
  int32_t tokens, heads, kv_heads, head_dim, topk_blocks, pages, page_tokens, sequences, max_pages;
  float scale;
  bool is_f32;                 // q, caches and out are f32, else bf16
};

// Tokens [first_token, +tokens) of one sequence (one token if blocks are given) and query heads
// [first_head, +heads) of one KV head; tokens * heads <= rows_per_call(head_dim).
struct AttendRows {
  int32_t first_token, tokens, first_head, heads;
};

void attend_rows_baseline(const Attend& a, const AttendRows& rows);
void attend_rows_avx2(const Attend& a, const AttendRows& rows);
void attend_rows_avx512(const Attend& a, const AttendRows& rows);

// Runs the whole operation.
void attend(const Attend& a, const CpuContext* context);

}  // namespace attention_kernels

#endif
