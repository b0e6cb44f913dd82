/* Grouped GEMM of the gate and up projections with SwiGLU-OAI behind it: docs/experts-gate-up.md.
 * Read by the C++ compiler, by nvcc and by the manifest generator.
 *
 *   gate = W13[e, c] . x, up = W13[e, intermediate + c] . x              fp32
 *   g = min(gate, limit), u = clamp(up, -limit, limit)
 *   y = round(g * sigmoid(alpha g) * (u + beta))
 */
#ifndef MOE_KERNELS_EXPERTS_GATE_UP_H
#define MOE_KERNELS_EXPERTS_GATE_UP_H

#include <stdint.h>

/* kernel experts_gate_up_mxfp8_bf16 ExpertsGateUpParams block=256 pdl=waits,triggers */
/* kernel experts_gate_up_mxfp8_f32 ExpertsGateUpParams block=256 pdl=waits,triggers */
/* kernel experts_gate_up_bf16_bf16 ExpertsGateUpParams block=256 pdl=waits,triggers */
/* kernel experts_gate_up_bf16_f32 ExpertsGateUpParams block=256 pdl=waits,triggers */
/* kernel experts_gate_up_f32_bf16 ExpertsGateUpParams block=256 pdl=waits,triggers */
/* kernel experts_gate_up_f32_f32 ExpertsGateUpParams block=256 pdl=waits,triggers */
/* kernel experts_gate_up_mxfp8_bf16_shared ExpertsGateUpParams block=256 pdl=waits,triggers cpu=experts_gate_up_mxfp8_bf16 */
/* kernel experts_gate_up_bf16_bf16_shared ExpertsGateUpParams block=256 pdl=waits,triggers cpu=experts_gate_up_bf16_bf16 */
/* kernel experts_gate_up_mxfp8_bf16_tiled ExpertsGateUpParams block=256 pdl=waits,triggers cpu=experts_gate_up_mxfp8_bf16 */
/* kernel experts_gate_up_bf16_bf16_tiled ExpertsGateUpParams block=256 pdl=waits,triggers cpu=experts_gate_up_bf16_bf16 */
/* kernel experts_gate_up_mxfp8_bf16_wgmma ExpertsGateUpParams block=384 pdl=waits,triggers cpu=experts_gate_up_mxfp8_bf16 */
/* kernel experts_gate_up_bf16_bf16_wgmma ExpertsGateUpParams block=384 pdl=waits,triggers cpu=experts_gate_up_bf16_bf16 */
typedef struct ExpertsGateUpParams {
  const void* x;        /* r bf16|f32 [tokens, hidden] token rows, gathered through `rows` */
  const void* w13;      /* r e4m3|bf16|f32 [experts, 2 * intermediate, hidden] gate, then up rows */
  const void* scales;   /* r? e8m0 [experts, 2 * intermediate, hidden / 32] with e4m3 weights */
  const void* offsets;  /* r i32 [experts + 1] first permuted row of each expert */
  const void* rows;     /* r i32 [slots] permuted row -> token * k + slot; others read token 0 */
  void* y;              /* w bf16|f32 [slots, intermediate] rows behind the last are untouched */
  void* packed;         /* rw? u8 [workspace bytes of the plan] x repacked; null = none wanted */
  int32_t slots;        /* rows of y, tokens * k; an expert whose rows lie outside is left out */
  int32_t experts;      /* local experts, <= 4097 */
  int32_t k;            /* slots per token: token = rows[i] / k */
  int32_t hidden;       /* columns of x */
  int32_t intermediate; /* columns of y */
  float alpha;          /* slope inside the sigmoid, 1.702 */
  float beta;           /* added to the clamped up, 1 */
  float limit;          /* clamp, 7; +inf = none */
} ExpertsGateUpParams;

#endif
