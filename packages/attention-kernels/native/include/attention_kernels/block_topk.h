/* The blocks that each token and index head attends to. */
#ifndef ATTENTION_KERNELS_BLOCK_TOPK_H
#define ATTENTION_KERNELS_BLOCK_TOPK_H

#include <stdint.h>

/* kernel block_topk BlockTopkParams block=128 pdl=waits,triggers */
typedef struct BlockTopkParams {
  const float* scores;      /* r f32 [tokens, index_heads, max_pages] of block_scores */
  const int32_t* positions; /* r i32 [total_tokens], absolute; negative: all -1 */
  int32_t* blocks;          /* w i32 [index_heads, total_tokens, topk_blocks], ascending, then -1 */
  int32_t first_token;      /* first row of this launch */
  int32_t tokens;           /* rows of this launch */
  int32_t total_tokens;     /* rows of positions and blocks */
  int32_t index_heads;      /* selections per token */
  int32_t page_tokens;      /* tokens of a block */
  int32_t max_pages;        /* columns of scores */
  int32_t topk_blocks;      /* blocks to choose, at most 1024 */
  int32_t init_blocks;      /* first blocks that are always chosen */
  int32_t local_blocks;     /* last blocks, the own one included, that are always chosen; >= 1 */
} BlockTopkParams;

#endif
