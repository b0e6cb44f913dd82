/* RMSNorm, optionally after adding a residual, over rows of tokens x heads. docs/rms-norm.md
 *
 *   s = f32(x) + f32(residual), residual_out = round(s)      (s = f32(x) without a residual)
 *   y = round(s * rsqrt(mean(s^2) + epsilon) * (weight_offset + f32(weight)))
 */
#ifndef DENSE_KERNELS_RMS_NORM_H
#define DENSE_KERNELS_RMS_NORM_H

#include <stdint.h>

/* kernel rms_norm_bf16 RmsNormParams block=1024 pdl=waits,triggers */
/* kernel rms_norm_f32 RmsNormParams block=1024 pdl=waits,triggers */
typedef struct RmsNormParams {
  const void* x;          /* r bf16|f32 [tokens, heads, hidden] strides below */
  const void* residual;   /* r? bf16|f32 [tokens, heads, hidden] dense; null = no addition */
  const void* weight;     /* r bf16|f32 [hidden] */
  void* residual_out;     /* w? bf16|f32 [tokens, heads, hidden] dense, may be residual; null without */
  void* y;                /* w bf16|f32 [tokens, heads, hidden] strides below, may be x */
  int64_t x_token_stride; /* elements from one token of x to the next */
  int64_t x_head_stride;  /* elements from one head of x to the next */
  int64_t y_token_stride; /* elements from one token of y to the next */
  int64_t y_head_stride;  /* elements from one head of y to the next */
  int32_t tokens;         /* tokens */
  int32_t heads;          /* rows of a token that are normed apart, 1 = the whole token */
  int32_t hidden;         /* columns of a row */
  int32_t weight_is_bf16; /* 1 = weight is bf16, 0 = f32 */
  float epsilon;          /* added to the mean square */
  float weight_offset;    /* 1 = Gemma (1 + weight), 0 = plain weight */
} RmsNormParams;

#endif
