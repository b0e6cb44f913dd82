// Defines the exported entry of an operation: it hands over to the AVX2 build of the same body when
// the runtime chose that level or a higher one.
#ifndef DENSE_KERNELS_CPU_BODY_ENTRY_H
#define DENSE_KERNELS_CPU_BODY_ENTRY_H

#include "cuda_runtime/abi.h"

#if CRT_X86
#define DENSE_KERNELS_ENTRY(entry, Params, baseline)                      \
  void entry##_avx2(const Params* p, const CpuContext* context);          \
  extern "C" void entry(const Params* p, const CpuContext* context) {     \
    if (context->level >= kCpuAvx2) return entry##_avx2(p, context);      \
    baseline(p, context);                                                 \
  }
#else
#define DENSE_KERNELS_ENTRY(entry, Params, baseline) \
  extern "C" void entry(const Params* p, const CpuContext* context) { baseline(p, context); }
#endif

#endif
