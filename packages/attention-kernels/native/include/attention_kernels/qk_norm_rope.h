/* Gemma RMS norm per head, then rotation of the first dims, of q, k and the MSA index pair; and, if
 * there is a cache, k, v and the index key into their slots. */
#ifndef ATTENTION_KERNELS_QK_NORM_ROPE_H
#define ATTENTION_KERNELS_QK_NORM_ROPE_H

#include <stdint.h>

/* kernel qk_norm_rope_bf16 QkNormRopeParams block=128 pdl=waits,triggers */
/* kernel qk_norm_rope_f32 QkNormRopeParams block=128 pdl=waits,triggers */
/* kernel qk_norm_rope_bf16_128 QkNormRopeParams block=128 pdl=waits,triggers cpu=qk_norm_rope_bf16 */
typedef struct QkNormRopeParams {
  const void* q;              /* r bf16|f32 [tokens, heads, head_dim], row stride q_stride */
  const void* k;              /* r bf16|f32 [tokens, kv_heads, head_dim], row stride k_stride */
  const void* index_q;        /* r? bf16|f32 [tokens, index_heads, index_dim]; null: none */
  const void* index_k;        /* r? bf16|f32 [tokens, 1, index_dim]; null with index_q only */
  const void* q_weight;       /* r? bf16|f32 [head_dim], used as 1 + w; null: not normed */
  const void* k_weight;       /* r? bf16|f32 [head_dim], as q_weight */
  const void* index_q_weight; /* r? bf16|f32 [index_dim], as q_weight */
  const void* index_k_weight; /* r? bf16|f32 [index_dim], as q_weight */
  const int32_t* positions;   /* r i32 [tokens], absolute; negative: the token's outputs are zero */
  void* q_out;                /* w bf16|f32 [tokens, heads, head_dim] */
  void* k_out;                /* w bf16|f32 [tokens, kv_heads, head_dim] */
  void* index_q_out;          /* w? bf16|f32 [tokens, index_heads, index_dim] */
  void* index_k_out;          /* w? bf16|f32 [tokens, 1, index_dim] */
  const void* v;              /* r? bf16|f32 [tokens, kv_heads, head_dim]; null: no cache */
  const int32_t* slots;       /* r? i32 [tokens], page * page_tokens + offset; else skipped */
  void* k_cache;              /* rw? bf16|f32 [pages, page_tokens, kv_heads, head_dim] */
  void* v_cache;              /* rw? bf16|f32 [pages, page_tokens, kv_heads, head_dim] */
  void* index_cache;          /* rw? bf16|f32 [pages, page_tokens, index_dim]; null: no index pair */
  int64_t q_stride;           /* elements from one token of q to the next */
  int64_t k_stride;           /* elements from one token of k to the next */
  int64_t index_q_stride;     /* elements from one token of index_q to the next */
  int64_t index_k_stride;     /* elements from one token of index_k to the next */
  int64_t v_stride;           /* elements from one token of v to the next */
  double log2_theta;          /* of theta; the devices form the frequencies from it */
  int64_t cache_slots;        /* pages * page_tokens; 0: no cache */
  int32_t tokens;             /* rows */
  int32_t heads;              /* query heads */
  int32_t kv_heads;           /* key heads */
  int32_t head_dim;           /* elements of a head of q and k */
  int32_t index_heads;        /* heads of index_q */
  int32_t index_dim;          /* elements of a head of index_q and index_k */
  int32_t rotary_dim;         /* even; the first dims of every head that are rotated */
  int32_t weights_f32;        /* 1: all four weights are f32, 0: all are bf16 */
  float theta;                /* base of the rotation frequencies */
  float eps;                  /* added to the mean square */
} QkNormRopeParams;

#endif
