/* Scale bytes between row-major order and the 128 x 4 tiles of block-scaled matrix units.
 * docs/pack-mxfp8-scales.md */
#ifndef DENSE_KERNELS_PACK_MXFP8_SCALES_H
#define DENSE_KERNELS_PACK_MXFP8_SCALES_H

#include <stdint.h>

/* kernel pack_mxfp8_scales PackMxfp8ScalesParams block=128 */
/* kernel unpack_mxfp8_scales PackMxfp8ScalesParams block=128 */
typedef struct PackMxfp8ScalesParams {
  const void* from; /* r e8m0 pack: [rows, blocks]; unpack: the tiles */
  void* to;         /* w e8m0 pack: the tiles, padding as zeros; unpack: [rows, blocks] */
  int32_t rows;     /* rows of the scales */
  int32_t blocks;   /* scales a row */
} PackMxfp8ScalesParams;

#endif
