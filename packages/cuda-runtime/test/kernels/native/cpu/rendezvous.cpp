// test_rendezvous on the CPU. Arrivals are counted, so that a replay works without a reset.
#include "test_kernels/rendezvous.h"

#include <sched.h>

#include "clock.h"

extern "C" void test_rendezvous(const RendezvousParams* p, const CpuContext*) {
  int32_t* flags = const_cast<int32_t*>(p->flags);
  const int32_t arrival = __atomic_add_fetch(&flags[p->side], 1, __ATOMIC_ACQ_REL);
  const int64_t end = monotonic_ns() + static_cast<int64_t>(p->timeout_ms) * 1000000;
  *p->met = 0;
  while (monotonic_ns() < end) {
    if (__atomic_load_n(&flags[1 - p->side], __ATOMIC_ACQUIRE) >= arrival) {
      *p->met = 1;
      return;
    }
    sched_yield();
  }
}
