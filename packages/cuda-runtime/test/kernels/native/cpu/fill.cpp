// test_fill on the CPU.
#include "test_kernels/fill.h"

extern "C" void test_fill(const FillParams* p, const CpuContext*) {
  for (int32_t i = 0; i < p->count; ++i) p->y[i] = p->value;
}
