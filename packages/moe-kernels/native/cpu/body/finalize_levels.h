// The loop bodies of finalize, one per instruction set and data type.
#ifndef MOE_KERNELS_CPU_BODY_FINALIZE_LEVELS_H
#define MOE_KERNELS_CPU_BODY_FINALIZE_LEVELS_H

#include "cuda_runtime/abi.h"

// The bodies of one data type, by level.
struct FinalizeLevels {
  CpuLoopBody baseline;
  CpuLoopBody avx2;
  CpuLoopBody avx512;
};

void finalize_f32_avx2(void* argument, int64_t begin, int64_t end);
void finalize_bf16_avx2(void* argument, int64_t begin, int64_t end);
void finalize_f32_avx512(void* argument, int64_t begin, int64_t end);
void finalize_bf16_avx512(void* argument, int64_t begin, int64_t end);

#endif
