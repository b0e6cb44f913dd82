/* Router top-k: scores, selection, weights. Equations, ties and NaN policy: docs/topk.md.
 * Read by the C++ compiler, by nvcc and by the manifest generator. */
#ifndef MOE_KERNELS_TOPK_H
#define MOE_KERNELS_TOPK_H

#include <stdint.h>

/* kernel topk_f32 TopkParams block=256 pdl=waits,triggers */
/* kernel topk_bf16 TopkParams block=256 pdl=waits,triggers */
/* kernel topk_f32_rows TopkParams block=128 pdl=waits,triggers cpu=topk_f32 */
typedef struct TopkParams {
  const void* logits;    /* r bf16|f32 [tokens, experts] router output, rows dense */
  const void* bias;      /* r? f32 [experts] helps to choose, never weighs; null = none */
  const void* positions; /* r? i32 [tokens] -1 = padding row: ids -1, weights 0; null = none */
  void* ids;             /* w i32 [tokens, k + shared] best first, ties to the lower id */
  void* weights;         /* w f32 [tokens, k + shared] */
  void* packed;          /* w? i32 [tokens, k + shared] id << 16 | bf16 bits of the weight */
  void* status;          /* rw? i32 [1] set to 1 when a logit was NaN; null = not wanted */
  int32_t tokens;        /* rows */
  int32_t experts;       /* columns, <= 4096 */
  int32_t k;             /* experts chosen per token, <= 32 */
  int32_t shared;        /* slots appended with ids experts, experts + 1, ... */
  int32_t score;         /* 0 = logit, 1 = softmax over all experts, 2 = sigmoid, 3 = sqrt(softplus) */
  int32_t by_logit;      /* 1 = choose by the logit instead of by the score */
  int32_t groups;        /* contiguous groups of experts, 1 = no grouping */
  int32_t kept_groups;   /* groups that stay selectable */
  int32_t group_rule;    /* 0 = largest key, others' keys 0; 1 = two largest keys, others' -inf */
  int32_t normalize;     /* 0 = none, 1 = / (sum + 1e-20), 2 = / max(sum, 1e-20), 3 = softmax */
  int32_t nan_first;     /* 0 = NaN keys are chosen last and weigh 0; 1 = first, weight NaN */
  float scale;           /* multiplied into the routed weights last */
  float shared_weight;   /* weight of the appended slots, not scaled */
} TopkParams;

#endif
