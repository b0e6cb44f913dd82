// The programmatic-launch kernels on the CPU.
#include "clock.h"
#include "test_kernels/pdl.h"

// Atomic, because a second that does not wait looks at what the first writes.
static int32_t read(const int32_t* x) { return __atomic_load_n(x, __ATOMIC_ACQUIRE); }

static void note_start(const PdlParams* p) {
  if (p->started_early != nullptr) *p->started_early = read(p->x) != p->value ? 1 : 0;
}

extern "C" void test_pdl_first(const PdlParams* p, const CpuContext* context) {
  context->trigger(context);
  spin_us(p->microseconds);
  __atomic_store_n(p->y, p->value, __ATOMIC_RELEASE);
}

extern "C" void test_pdl_second(const PdlParams* p, const CpuContext* context) {
  note_start(p);
  context->grid_dependency_sync(context);
  *p->y = read(p->x);
}

extern "C" void test_pdl_no_wait(const PdlParams* p, const CpuContext*) {
  note_start(p);
  *p->y = read(p->x);
}
