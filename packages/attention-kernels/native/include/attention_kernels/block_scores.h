/* One score per token, index head and block of the context: what block_topk chooses from. */
#ifndef ATTENTION_KERNELS_BLOCK_SCORES_H
#define ATTENTION_KERNELS_BLOCK_SCORES_H

#include <stdint.h>

/* kernel block_scores_bf16 BlockScoresParams block=128 pdl=waits,triggers */
/* kernel block_scores_f32 BlockScoresParams block=128 pdl=waits,triggers */
/* kernel block_scores_bf16_mma BlockScoresParams block=128 pdl=waits,triggers cpu=block_scores_bf16 */
typedef struct BlockScoresParams {
  const void* index_q;         /* r bf16|f32 [total_tokens, index_heads, index_dim] */
  const void* index_keys;      /* r bf16|f32 [pages, page_tokens, index_dim] */
  const int32_t* page_table;   /* r i32 [sequences, max_pages], page of block b; -1: score -inf */
  const int32_t* positions;    /* r i32 [total_tokens], absolute; negative: nothing is scored */
  const int32_t* sequence_ids; /* r i32 [total_tokens], row of page_table */
  float* scores;               /* w f32 [tokens, index_heads, max_pages]; defined for the
                                  candidates of tokens with more than topk_blocks of them */
  int32_t first_token;         /* first row of this launch */
  int32_t tokens;              /* rows of this launch */
  int32_t index_heads;         /* heads of index_q, one selection each */
  int32_t index_dim;           /* at most 512 */
  int32_t pages;               /* pages of the cache */
  int32_t page_tokens;         /* tokens of a page = tokens of a block */
  int32_t sequences;           /* rows of page_table */
  int32_t max_pages;           /* columns of page_table and of scores */
  int32_t topk_blocks;         /* tokens with at most this many candidates need no score */
  int32_t log_sum_exp;         /* 0: the block's largest score; 1: log of the sum of exp */
  int32_t tile_tokens;         /* block_scores_bf16_mma: tokens that share 16 rows of a tensor core;
                                  times index_heads at most 16 */
  float scale;                 /* multiplies each q.k; matters for log_sum_exp only */
} BlockScoresParams;

#endif
