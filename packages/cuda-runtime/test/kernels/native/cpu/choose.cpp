// test_choose on the CPU.
#include "test_kernels/choose.h"

extern "C" void test_choose(const ChooseParams* p, const CpuContext*) {
  const int32_t chosen = p->first ? p->a : p->b;
  *p->y = (p->negate ? -chosen : chosen) * (p->twice ? 2 : 1);
}
