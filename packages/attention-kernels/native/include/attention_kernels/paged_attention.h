/* Causal grouped-query attention over the pages of each token's sequence. */
#ifndef ATTENTION_KERNELS_PAGED_ATTENTION_H
#define ATTENTION_KERNELS_PAGED_ATTENTION_H

#include <stdint.h>

/* kernel paged_attention_bf16 PagedAttentionParams block=128 pdl=waits,triggers */
/* kernel paged_attention_f32 PagedAttentionParams block=128 pdl=waits,triggers */
/* kernel paged_attention_bf16_pieces PagedAttentionParams block=128 pdl=waits,triggers cpu=paged_attention_bf16 */
/* kernel paged_attention_bf16_cluster PagedAttentionParams block=128 pdl=waits,triggers cpu=paged_attention_bf16 */
/* kernel paged_attention_bf16_rows PagedAttentionParams block=128 pdl=waits,triggers cpu=paged_attention_bf16 */
/* kernel paged_attention_bf16_chunk PagedAttentionParams block=256 pdl=waits,triggers cpu=paged_attention_bf16 */
typedef struct PagedAttentionParams {
  const void* q;                 /* r bf16|f32 [tokens, heads, head_dim] */
  const void* k_cache;           /* r bf16|f32 [pages, page_tokens, kv_heads, head_dim] */
  const void* v_cache;           /* r bf16|f32 [pages, page_tokens, kv_heads, head_dim] */
  const int32_t* page_table;     /* r i32 [sequences, max_pages], page of block b; -1: none */
  const int32_t* positions;      /* r i32 [tokens], absolute; negative: output 0 */
  const int32_t* sequence_ids;   /* r i32 [tokens], row of page_table */
  void* out;                     /* w bf16|f32 [tokens, heads, head_dim] */
  float* partials;               /* w? f32 [tokens, heads, pieces, head_dim + 2] of attention_combine;
                                    null: out is written. Only _pieces and _rows take them;
                                    _cluster has a piece of 128 keys a block of its cluster */
  int32_t tokens;                /* rows */
  int32_t heads;                 /* query heads; head j reads KV head j / (heads / kv_heads) */
  int32_t kv_heads;              /* divides heads */
  int32_t head_dim;              /* at most 512 */
  int32_t pages;                 /* pages of the cache; other ids in page_table are skipped */
  int32_t page_tokens;           /* tokens of a page */
  int32_t sequences;             /* rows of page_table */
  int32_t max_pages;             /* columns of page_table */
  int32_t pieces;                /* of partials; 0 without */
  int32_t piece_keys;            /* keys of a piece: 128 (_pieces), 2048 or 0, not
                                    split (_rows); 0 elsewhere */
  float scale;                   /* multiplies the scores */
} PagedAttentionParams;

#endif
