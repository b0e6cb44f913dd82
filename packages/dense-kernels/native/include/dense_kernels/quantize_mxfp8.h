/* Rows to MXFP8: E4M3 elements and one E8M0 scale per 32 neighbours. docs/quantize-mxfp8.md */
#ifndef DENSE_KERNELS_QUANTIZE_MXFP8_H
#define DENSE_KERNELS_QUANTIZE_MXFP8_H

#include <stdint.h>

/* kernel quantize_mxfp8_f32 QuantizeMxfp8Params block=256 */
/* kernel quantize_mxfp8_bf16 QuantizeMxfp8Params block=256 */
typedef struct QuantizeMxfp8Params {
  const void* x;        /* r f32|bf16 [rows, columns] rows dense, x_stride apart */
  void* data;           /* w e4m3 [rows, columns] */
  void* scales;         /* w e8m0 [rows, columns / 32] */
  int64_t x_stride;     /* elements from one row of x to the next */
  int32_t rows;         /* rows */
  int32_t columns;      /* a multiple of 32 */
  int32_t scale_mode;   /* 0 rceil, 1 floor, 2 ceil, 3 even */
  int32_t infinity_nan; /* 1: a block with an infinity becomes NaN; 0: it saturates */
} QuantizeMxfp8Params;

#endif
