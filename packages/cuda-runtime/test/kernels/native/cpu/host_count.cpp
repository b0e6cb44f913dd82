// test_host_count: on the callback thread of both backends.
#include "test_kernels/host_count.h"

#include "clock.h"

static int32_t running = 0;

extern "C" void test_host_count(const HostCountParams* p) {
  const int32_t now = __atomic_add_fetch(&running, 1, __ATOMIC_ACQ_REL);
  if (now > p->calls[1]) p->calls[1] = now;
  spin_us(p->microseconds);
  p->calls[0] += p->step;
  __atomic_sub_fetch(&running, 1, __ATOMIC_ACQ_REL);
}
