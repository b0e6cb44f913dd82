/* Router top-k and the maps of permute in one launch, for few tokens. Equations: docs/topk.md;
 * layout and order: docs/permute.md; limits: docs/topk-permute.md.
 * Read by the C++ compiler, by nvcc and by the manifest generator. */
#ifndef MOE_KERNELS_TOPK_PERMUTE_H
#define MOE_KERNELS_TOPK_PERMUTE_H

#include <stdint.h>

/* kernel topk_permute_f32 TopkPermuteParams block=1024 pdl=waits,triggers */
typedef struct TopkPermuteParams {
  const void* logits;    /* r f32 [tokens, experts] router output, rows dense */
  const void* bias;      /* r? f32 [experts] helps to choose, never weighs; null = none */
  const void* positions; /* r? i32 [tokens] -1 = padding row: ids -1, weights 0; null = none */
  void* ids;             /* w i32 [tokens, k + shared] best first, ties to the lower id */
  void* weights;         /* w f32 [tokens, k + shared] */
  void* status;          /* rw? i32 [1] set to 1 when a logit was NaN; null = not wanted */
  void* offsets;         /* w i32 [local_experts + 1] first permuted row of each local expert */
  void* rows;            /* w i32 [tokens * (k + shared)] permuted row -> pair, -1 behind the last */
  void* slots;           /* w i32 [tokens, k + shared] pair -> permuted row, -1 = skipped */
  int32_t tokens;        /* rows, <= 32; tokens * (k + shared) <= 256 */
  int32_t experts;       /* columns, <= 128 */
  int32_t k;             /* experts chosen per token */
  int32_t shared;        /* slots appended with ids experts, experts + 1, ...; k + shared <= 32 */
  int32_t score;         /* 0 = logit, 2 = sigmoid */
  int32_t by_logit;      /* 1 = choose by the logit instead of by the score */
  int32_t normalize;     /* 0 = none, 1 = / (sum + 1e-20), 2 = / max(sum, 1e-20) */
  int32_t nan_first;     /* 0 = NaN keys are chosen last and weigh 0; 1 = first, weight NaN */
  int32_t expert_offset; /* global id of local expert 0 */
  int32_t local_experts; /* local experts, <= 4097 */
  int32_t rehearse;      /* 1 = with a bias, go through the code once before the wait */
  float scale;           /* multiplied into the routed weights last */
  float shared_weight;   /* weight of the appended slots, not scaled */
} TopkPermuteParams;

#endif
