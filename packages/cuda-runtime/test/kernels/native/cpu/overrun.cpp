// test_overrun on the CPU.
#include "test_kernels/overrun.h"

extern "C" void test_overrun(const OverrunParams* p, const CpuContext*) {
  p->y[p->index] = p->value;
}
