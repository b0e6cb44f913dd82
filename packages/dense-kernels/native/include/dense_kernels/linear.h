/* y = x * weight^T with fp32 accumulation and one rounding. docs/linear.md
 *
 * Entries are linear_<weight>_<x>_<y>. A row of y depends on its row of x and on the weights only,
 * bit for bit: not on the other rows, not on the number of threads.
 */
#ifndef DENSE_KERNELS_LINEAR_H
#define DENSE_KERNELS_LINEAR_H

#include <stdint.h>

/* kernel linear_f32_f32_f32 LinearParams block=256 pdl=waits,triggers */
/* kernel linear_f32_f32_bf16 LinearParams block=256 pdl=waits,triggers */
/* kernel linear_f32_bf16_f32 LinearParams block=256 pdl=waits,triggers */
/* kernel linear_f32_bf16_bf16 LinearParams block=256 pdl=waits,triggers */
/* kernel linear_bf16_f32_f32 LinearParams block=256 pdl=waits,triggers */
/* kernel linear_bf16_f32_bf16 LinearParams block=256 pdl=waits,triggers */
/* kernel linear_bf16_bf16_f32 LinearParams block=256 pdl=waits,triggers */
/* kernel linear_bf16_bf16_bf16 LinearParams block=256 pdl=waits,triggers */
/* kernel linear_mxfp8_f32_f32 LinearParams block=256 pdl=waits,triggers */
/* kernel linear_mxfp8_f32_bf16 LinearParams block=256 pdl=waits,triggers */
/* kernel linear_mxfp8_bf16_f32 LinearParams block=256 pdl=waits,triggers */
/* kernel linear_mxfp8_bf16_bf16 LinearParams block=256 pdl=waits,triggers */
/* On CUDA those take any alignment and, with f32 on either side, any number of tokens; the ones
 * below want rows of x and weight at multiples of 16 bytes. The plan chooses. */
/* kernel linear_bf16_bf16_f32_stream LinearParams block=256 pdl=waits,triggers cpu=linear_bf16_bf16_f32 */
/* kernel linear_bf16_bf16_f32_stream_8 LinearParams block=256 pdl=waits,triggers cpu=linear_bf16_bf16_f32 */
/* kernel linear_bf16_bf16_f32_stream_16 LinearParams block=256 pdl=waits,triggers cpu=linear_bf16_bf16_f32 */
/* kernel linear_bf16_bf16_bf16_stream LinearParams block=256 pdl=waits,triggers cpu=linear_bf16_bf16_bf16 */
/* kernel linear_bf16_bf16_bf16_stream_8 LinearParams block=256 pdl=waits,triggers cpu=linear_bf16_bf16_bf16 */
/* kernel linear_bf16_bf16_bf16_stream_16 LinearParams block=256 pdl=waits,triggers cpu=linear_bf16_bf16_bf16 */
/* kernel linear_mxfp8_bf16_f32_stream LinearParams block=256 pdl=waits,triggers cpu=linear_mxfp8_bf16_f32 */
/* kernel linear_mxfp8_bf16_f32_stream_8 LinearParams block=256 pdl=waits,triggers cpu=linear_mxfp8_bf16_f32 */
/* kernel linear_mxfp8_bf16_f32_stream_16 LinearParams block=256 pdl=waits,triggers cpu=linear_mxfp8_bf16_f32 */
/* kernel linear_mxfp8_bf16_bf16_stream LinearParams block=256 pdl=waits,triggers cpu=linear_mxfp8_bf16_bf16 */
/* kernel linear_mxfp8_bf16_bf16_stream_8 LinearParams block=256 pdl=waits,triggers cpu=linear_mxfp8_bf16_bf16 */
/* kernel linear_mxfp8_bf16_bf16_stream_16 LinearParams block=256 pdl=waits,triggers cpu=linear_mxfp8_bf16_bf16 */
/* kernel linear_mxfp8_bf16_f32_spread LinearParams block=512 pdl=waits,triggers cpu=linear_mxfp8_bf16_f32 */
/* kernel linear_mxfp8_bf16_bf16_spread LinearParams block=512 pdl=waits,triggers cpu=linear_mxfp8_bf16_bf16 */
/* kernel linear_bf16_bf16_f32_tile LinearParams block=256 pdl=waits,triggers cpu=linear_bf16_bf16_f32 */
/* kernel linear_bf16_bf16_bf16_tile LinearParams block=256 pdl=waits,triggers cpu=linear_bf16_bf16_bf16 */
/* kernel linear_mxfp8_bf16_f32_tile LinearParams block=256 pdl=waits,triggers cpu=linear_mxfp8_bf16_f32 */
/* kernel linear_mxfp8_bf16_bf16_tile LinearParams block=256 pdl=waits,triggers cpu=linear_mxfp8_bf16_bf16 */
/* kernel linear_bf16_bf16_f32_wide LinearParams block=256 pdl=waits,triggers cpu=linear_bf16_bf16_f32 */
/* kernel linear_bf16_bf16_bf16_wide LinearParams block=256 pdl=waits,triggers cpu=linear_bf16_bf16_bf16 */
/* kernel linear_mxfp8_bf16_f32_wide LinearParams block=256 pdl=waits,triggers cpu=linear_mxfp8_bf16_f32 */
/* kernel linear_mxfp8_bf16_bf16_wide LinearParams block=256 pdl=waits,triggers cpu=linear_mxfp8_bf16_bf16 */
/* kernel linear_bf16_bf16_f32_wgmma LinearParams block=256 pdl=waits,triggers cpu=linear_bf16_bf16_f32 */
/* kernel linear_bf16_bf16_bf16_wgmma LinearParams block=256 pdl=waits,triggers cpu=linear_bf16_bf16_bf16 */
/* kernel linear_mxfp8_bf16_f32_wgmma LinearParams block=256 pdl=waits,triggers cpu=linear_mxfp8_bf16_f32 */
/* kernel linear_mxfp8_bf16_bf16_wgmma LinearParams block=256 pdl=waits,triggers cpu=linear_mxfp8_bf16_bf16 */
/* kernel linear_f32_f32_f32_tile LinearParams block=256 pdl=waits,triggers cpu=linear_f32_f32_f32 */
/* kernel linear_f32_f32_bf16_tile LinearParams block=256 pdl=waits,triggers cpu=linear_f32_f32_bf16 */
/* kernel linear_f32_bf16_f32_tile LinearParams block=256 pdl=waits,triggers cpu=linear_f32_bf16_f32 */
/* kernel linear_f32_bf16_bf16_tile LinearParams block=256 pdl=waits,triggers cpu=linear_f32_bf16_bf16 */
/* kernel linear_bf16_f32_f32_tile LinearParams block=256 pdl=waits,triggers cpu=linear_bf16_f32_f32 */
/* kernel linear_bf16_f32_bf16_tile LinearParams block=256 pdl=waits,triggers cpu=linear_bf16_f32_bf16 */
/* kernel linear_mxfp8_f32_f32_tile LinearParams block=256 pdl=waits,triggers cpu=linear_mxfp8_f32_f32 */
/* kernel linear_mxfp8_f32_bf16_tile LinearParams block=256 pdl=waits,triggers cpu=linear_mxfp8_f32_bf16 */
/* kernel linear_f32_f32_f32_few LinearParams block=256 pdl=waits,triggers cpu=linear_f32_f32_f32 */
/* kernel linear_f32_f32_f32_more LinearParams block=256 pdl=waits,triggers cpu=linear_f32_f32_f32 */
/* kernel linear_f32_f32_bf16_few LinearParams block=256 pdl=waits,triggers cpu=linear_f32_f32_bf16 */
/* kernel linear_f32_f32_bf16_more LinearParams block=256 pdl=waits,triggers cpu=linear_f32_f32_bf16 */
/* kernel linear_f32_bf16_f32_few LinearParams block=256 pdl=waits,triggers cpu=linear_f32_bf16_f32 */
/* kernel linear_f32_bf16_f32_more LinearParams block=256 pdl=waits,triggers cpu=linear_f32_bf16_f32 */
/* kernel linear_f32_bf16_bf16_few LinearParams block=256 pdl=waits,triggers cpu=linear_f32_bf16_bf16 */
/* kernel linear_f32_bf16_bf16_more LinearParams block=256 pdl=waits,triggers cpu=linear_f32_bf16_bf16 */
typedef struct LinearParams {
  const void* x;      /* r f32|bf16 [tokens, in] rows dense, x_stride apart */
  const void* weight; /* r f32|bf16|e4m3 [out, in] dense */
  const void* scales; /* r? e8m0 [out, in / 32] null unless the weight is e4m3 */
  void* y;            /* w f32|bf16 [tokens, out] rows dense, y_stride apart */
  void* workspace;    /* rw? u8 [workspace bytes of the plan] x repacked, if planned */
  int64_t x_stride;   /* elements from one row of x to the next */
  int64_t y_stride;   /* elements from one row of y to the next */
  int32_t tokens;     /* rows of x and y */
  int32_t in;         /* columns of x and weight; a multiple of 32 with scales */
  int32_t out;        /* rows of weight, columns of y */
  int32_t slice;      /* columns that CUDA sums together, a multiple of 64; by shapes of the weight */
} LinearParams;

#endif
