// linear's dot blocks for AVX2 + FMA + F16C; see dense_kernels/dot_block_avx2.h.

#include "dense_kernels/dot_block_avx2.h"
#include "linear_levels.h"

DENSE_KERNELS_LINEAR_DOT(avx2)
