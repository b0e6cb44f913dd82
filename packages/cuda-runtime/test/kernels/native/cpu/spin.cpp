// test_spin on the CPU.
#include "test_kernels/spin.h"

#include "clock.h"

extern "C" void test_spin(const SpinParams* p, const CpuContext*) {
  spin_us(p->microseconds);
  if (p->done != nullptr) *p->done = 1;
}
