/* SwiGLU with clamps and a shifted linear part, as in gpt-oss and MiniMax-M3. docs/swiglu-oai.md
 *
 *   g = min(gate, limit), u = clamp(up, -limit, limit)
 *   y = round(g * sigmoid(alpha g) * (u + beta))
 */
#ifndef DENSE_KERNELS_SWIGLU_OAI_H
#define DENSE_KERNELS_SWIGLU_OAI_H

#include <stdint.h>

/* kernel swiglu_oai_bf16 SwigluOaiParams block=256 pdl=waits,triggers */
/* kernel swiglu_oai_f32 SwigluOaiParams block=256 pdl=waits,triggers */
typedef struct SwigluOaiParams {
  const void* gate;      /* r bf16|f32 [tokens, intermediate] row stride below */
  const void* up;        /* r bf16|f32 [tokens, intermediate] row stride below */
  void* y;               /* w bf16|f32 [tokens, intermediate] dense */
  int64_t gate_stride;   /* elements from one row of gate to the next */
  int64_t up_stride;     /* elements from one row of up to the next */
  int32_t tokens;        /* rows */
  int32_t intermediate;  /* columns */
  float alpha;           /* slope inside the sigmoid, 1.702 */
  float beta;            /* added to the clamped up, 1 */
  float limit;           /* clamp, 7; +inf = none */
} SwigluOaiParams;

#endif
