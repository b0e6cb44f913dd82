// The best of a row of scores, driven by block_topk.cpp, done once per instruction set.
#ifndef ATTENTION_KERNELS_BEST_BLOCKS_H
#define ATTENTION_KERNELS_BEST_BLOCKS_H

#include <stdint.h>

namespace attention_kernels {

// Writes the `wanted` best of `count` scores, as first + index, in ascending order. NaN counts as
// -inf, equals go to the lower index. 0 < wanted < count, wanted <= 1024.
typedef void (*BestBlocksFunction)(const float* scores, int32_t count, int32_t wanted,
                                   int32_t first, int32_t* blocks);

void best_blocks_avx2(const float* scores, int32_t count, int32_t wanted, int32_t first,
                      int32_t* blocks);

}  // namespace attention_kernels

#endif
