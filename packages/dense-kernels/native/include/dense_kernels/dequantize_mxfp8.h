/* MXFP8 rows back to f32 (exact) or bf16 (exact for scale bytes 3 to 246).
 * docs/dequantize-mxfp8.md */
#ifndef DENSE_KERNELS_DEQUANTIZE_MXFP8_H
#define DENSE_KERNELS_DEQUANTIZE_MXFP8_H

#include <stdint.h>

/* kernel dequantize_mxfp8_f32 DequantizeMxfp8Params block=256 */
/* kernel dequantize_mxfp8_bf16 DequantizeMxfp8Params block=256 */
typedef struct DequantizeMxfp8Params {
  const void* data;   /* r e4m3 [rows, columns] */
  const void* scales; /* r e8m0 [rows, columns / 32] */
  void* y;            /* w f32|bf16 [rows, columns] */
  int32_t rows;       /* rows */
  int32_t columns;    /* a multiple of 32 */
} DequantizeMxfp8Params;

#endif
