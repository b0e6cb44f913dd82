// linear's dot blocks for AVX-512 with VBMI and BF16; see dense_kernels/dot_block_avx512.h.

#include "dense_kernels/dot_block_avx512.h"
#include "linear_levels.h"

DENSE_KERNELS_LINEAR_DOT(avx512)
