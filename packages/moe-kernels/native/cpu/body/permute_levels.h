// The loop body of permute that is built for a higher level than baseline.
#ifndef MOE_KERNELS_CPU_BODY_PERMUTE_LEVELS_H
#define MOE_KERNELS_CPU_BODY_PERMUTE_LEVELS_H

#include <stdint.h>

void permute_sort_pairs_avx2(void* argument, int64_t begin, int64_t end);

#endif
