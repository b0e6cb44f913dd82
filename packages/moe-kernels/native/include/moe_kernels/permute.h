/* Groups (token, slot) pairs by expert. Layout and order: docs/permute.md.
 * Read by the C++ compiler, by nvcc and by the manifest generator. */
#ifndef MOE_KERNELS_PERMUTE_H
#define MOE_KERNELS_PERMUTE_H

#include <stdint.h>

/* kernel permute PermuteParams block=1024 pdl=waits,triggers */
/* kernel permute_few PermuteParams block=256 pdl=waits,triggers cpu=permute */
typedef struct PermuteParams {
  const void* ids;       /* r i32 [tokens, k] global expert ids; -1 or not local = skipped */
  void* offsets;         /* w i32 [experts + 1] first permuted row of each local expert */
  void* rows;            /* w i32 [tokens * k] permuted row -> token * k + slot, -1 behind the last */
  void* slots;           /* w i32 [tokens, k] (token, slot) -> permuted row, -1 = skipped */
  void* tiles;           /* w? i32 [max_tiles, 3] expert, first row, rows; (-1, 0, 0) behind the last */
  void* tile_count;      /* w? i32 [1] tiles in use; null together with tiles */
  int32_t tokens;        /* rows of ids */
  int32_t k;             /* slots per token */
  int32_t expert_offset; /* global id of local expert 0 */
  int32_t experts;       /* local experts, <= 4097 */
  int32_t tile_rows;     /* most rows in a tile; 0 without tiles */
  int32_t max_tiles;     /* capacity of tiles */
} PermuteParams;

#endif
