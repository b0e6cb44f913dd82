/* Causal grouped-query attention over the chosen blocks of each token and KV head. */
#ifndef ATTENTION_KERNELS_SPARSE_ATTENTION_H
#define ATTENTION_KERNELS_SPARSE_ATTENTION_H

#include <stdint.h>

/* kernel sparse_attention_bf16 SparseAttentionParams block=128 pdl=waits,triggers */
/* kernel sparse_attention_f32 SparseAttentionParams block=128 pdl=waits,triggers */
/* kernel sparse_attention_bf16_pieces SparseAttentionParams block=128 pdl=waits,triggers cpu=sparse_attention_bf16 */
/* kernel sparse_attention_bf16_cluster SparseAttentionParams block=128 pdl=waits,triggers cpu=sparse_attention_bf16 */
/* kernel sparse_attention_bf16_rows SparseAttentionParams block=128 pdl=waits,triggers cpu=sparse_attention_bf16 */
typedef struct SparseAttentionParams {
  const void* q;                 /* r bf16|f32 [tokens, heads, head_dim] */
  const void* k_cache;           /* r bf16|f32 [pages, page_tokens, kv_heads, head_dim] */
  const void* v_cache;           /* r bf16|f32 [pages, page_tokens, kv_heads, head_dim] */
  const int32_t* blocks;         /* r i32 [kv_heads, tokens, topk_blocks], ascending, then -1 */
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
  int32_t topk_blocks;           /* columns of blocks */
  int32_t pages;                 /* pages of the cache; other ids in page_table are skipped */
  int32_t page_tokens;           /* tokens of a page = tokens of a block */
  int32_t sequences;             /* rows of page_table */
  int32_t max_pages;             /* columns of page_table */
  int32_t pieces;                /* of partials; 0 without */
  int32_t piece_keys;            /* listed keys of a piece: 128 (_pieces), 2048 or 0, not
                                    split (_rows); 0 elsewhere */
  float scale;                   /* multiplies the scores */
} SparseAttentionParams;

#endif
