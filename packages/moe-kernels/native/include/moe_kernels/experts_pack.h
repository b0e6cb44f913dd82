/* Activations in the order that products of warpgroups want: docs/experts-pack.md.
 * Read by the C++ compiler, by nvcc and by the manifest generator.
 *
 * Groups of 64 columns with MXFP8 weights, of 32 with bf16 ones: of a group's words of two columns,
 * w of each of four lanes, word 4 * j + q of `packed` is word q * w + j of `x`.
 */
#ifndef MOE_KERNELS_EXPERTS_PACK_H
#define MOE_KERNELS_EXPERTS_PACK_H

#include <stdint.h>

/* kernel experts_pack_mxfp8 ExpertsPackParams block=256 pdl=waits,triggers */
/* kernel experts_pack_bf16 ExpertsPackParams block=256 pdl=waits,triggers */
typedef struct ExpertsPackParams {
  const void* x;  /* r bf16 [rows, columns] whole groups of columns */
  void* packed;   /* w u8 [rows * columns * 2] the same rows in the other order, 16-byte aligned */
  int64_t chunks; /* 16 bytes each, of all rows: rows * columns / 8 */
} ExpertsPackParams;

#endif
