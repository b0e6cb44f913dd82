/* Grouped GEMM of the down projection: h2[row] = round(W2[e] . y[row]). docs/experts-down.md
 * Read by the C++ compiler, by nvcc and by the manifest generator. */
#ifndef MOE_KERNELS_EXPERTS_DOWN_H
#define MOE_KERNELS_EXPERTS_DOWN_H

#include <stdint.h>

/* kernel experts_down_mxfp8_bf16 ExpertsDownParams block=256 pdl=waits,triggers */
/* kernel experts_down_mxfp8_f32 ExpertsDownParams block=256 pdl=waits,triggers */
/* kernel experts_down_bf16_bf16 ExpertsDownParams block=256 pdl=waits,triggers */
/* kernel experts_down_bf16_f32 ExpertsDownParams block=256 pdl=waits,triggers */
/* kernel experts_down_f32_bf16 ExpertsDownParams block=256 pdl=waits,triggers */
/* kernel experts_down_f32_f32 ExpertsDownParams block=256 pdl=waits,triggers */
/* kernel experts_down_mxfp8_bf16_shared ExpertsDownParams block=256 pdl=waits,triggers cpu=experts_down_mxfp8_bf16 */
/* kernel experts_down_bf16_bf16_shared ExpertsDownParams block=256 pdl=waits,triggers cpu=experts_down_bf16_bf16 */
/* kernel experts_down_mxfp8_bf16_tiled ExpertsDownParams block=256 pdl=waits,triggers cpu=experts_down_mxfp8_bf16 */
/* kernel experts_down_bf16_bf16_tiled ExpertsDownParams block=256 pdl=waits,triggers cpu=experts_down_bf16_bf16 */
/* kernel experts_down_mxfp8_bf16_wgmma ExpertsDownParams block=384 pdl=waits,triggers cpu=experts_down_mxfp8_bf16 */
/* kernel experts_down_bf16_bf16_wgmma ExpertsDownParams block=384 pdl=waits,triggers cpu=experts_down_bf16_bf16 */
typedef struct ExpertsDownParams {
  const void* y;        /* r bf16|f32 [slots, intermediate] activated rows in permuted order */
  const void* w2;       /* r e4m3|bf16|f32 [experts, hidden, intermediate] */
  const void* scales;   /* r? e8m0 [experts, hidden, intermediate / 32] with e4m3 weights */
  const void* offsets;  /* r i32 [experts + 1] first permuted row of each expert */
  void* h2;             /* w bf16|f32 [slots, hidden] rows behind the last are untouched */
  void* packed;         /* rw? u8 [workspace bytes of the plan] y repacked; null = none wanted */
  int32_t slots;        /* rows of y and h2; an expert whose rows lie outside is left out */
  int32_t experts;      /* local experts, <= 4097 */
  int32_t hidden;       /* columns of h2 */
  int32_t intermediate; /* columns of y */
  int32_t settled;      /* 1 = offsets are older than the kernels that still run: read at once */
} ExpertsDownParams;

#endif
