/* Copies the keys, values and index keys of a step into the pages that the slots name. */
#ifndef ATTENTION_KERNELS_KV_WRITE_H
#define ATTENTION_KERNELS_KV_WRITE_H

#include <stdint.h>

/* kernel kv_write_bf16 KvWriteParams block=128 pdl=waits,triggers */
/* kernel kv_write_f32 KvWriteParams block=128 pdl=waits,triggers */
typedef struct KvWriteParams {
  const void* k;        /* r bf16|f32 [tokens, kv_heads, head_dim], row stride k_stride */
  const void* v;        /* r bf16|f32 [tokens, kv_heads, head_dim], row stride v_stride */
  const void* index_k;  /* r? bf16|f32 [tokens, index_dim]; null: no index cache */
  const int32_t* slots; /* r i32 [tokens], page * page_tokens + offset; else skipped */
  void* k_cache;        /* rw bf16|f32 [pages, page_tokens, kv_heads, head_dim] */
  void* v_cache;        /* rw bf16|f32 [pages, page_tokens, kv_heads, head_dim] */
  void* index_cache;    /* rw? bf16|f32 [pages, page_tokens, index_dim] */
  int64_t k_stride;       /* elements from one token of k to the next */
  int64_t v_stride;       /* elements from one token of v to the next */
  int64_t index_k_stride; /* elements from one token of index_k to the next */
  int64_t cache_slots;    /* pages * page_tokens */
  int32_t tokens;         /* rows */
  int32_t width;          /* kv_heads * head_dim */
  int32_t index_dim;      /* elements of an index key; 0 without index_k */
} KvWriteParams;

#endif
