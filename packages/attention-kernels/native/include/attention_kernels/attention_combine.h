/* Joins the pieces of query rows whose keys were split over blocks of threads. */
#ifndef ATTENTION_KERNELS_ATTENTION_COMBINE_H
#define ATTENTION_KERNELS_ATTENTION_COMBINE_H

#include <stdint.h>

/* kernel attention_combine_bf16 AttentionCombineParams block=128x4 pdl=waits,triggers */
typedef struct AttentionCombineParams {
  const float* partials;    /* r f32 [tokens, heads, pieces, head_dim + 2], of each piece: the sum of
                               exp * v, the largest score before scaling, the sum of exp */
  const int32_t* positions; /* r i32 [tokens], absolute; negative: output 0 */
  void* out;                /* w bf16 [tokens, heads, head_dim] */
  int64_t most_keys;        /* keys that a row can have; pieces behind them do not exist */
  int32_t tokens;           /* rows */
  int32_t heads;            /* query heads */
  int32_t head_dim;         /* elements of a head */
  int32_t pieces;           /* pieces of a row in partials */
  int32_t piece_keys;       /* keys of a piece: 128 or 2048 */
  int32_t is_causal;        /* 1: only the pieces with a key at or before the position exist */
  float scale;              /* multiplies the scores */
} AttentionCombineParams;

#endif
