// test_accumulate on the CPU. Unsigned arithmetic: wrapping is defined.
#include "test_kernels/accumulate.h"

extern "C" void test_accumulate(const AccumulateParams* p, const CpuContext*) {
  for (int32_t i = 0; i < p->count; ++i) {
    const uint32_t scaled = static_cast<uint32_t>(p->y[i]) * static_cast<uint32_t>(p->factor);
    p->y[i] = static_cast<int32_t>(scaled + static_cast<uint32_t>(p->x));
  }
}
