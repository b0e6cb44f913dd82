// Groups (token, slot) pairs by expert on the CPU, compiled for AVX2. Steps: body/permute.h.

#include "body/permute.h"
#include "body/permute_levels.h"

void permute_sort_pairs_avx2(void* argument, int64_t begin, int64_t end) {
  sort_pairs(argument, begin, end);
}
