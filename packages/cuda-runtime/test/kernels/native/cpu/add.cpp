// test_add on the CPU; shows the split by instruction set.
#include "test_kernels/add.h"

#ifdef CRT_X86
void test_add_avx2(const AddParams* p);
#endif

static void test_add_baseline(const AddParams* p) {
  for (int64_t i = 0; i < p->count; ++i) {
    p->y[i] = (p->a[i] + (p->b != nullptr ? p->b[i] : 0.0f)) * p->scale;
  }
}

extern "C" void test_add(const AddParams* p, const CpuContext* context) {
#ifdef CRT_X86
  if (context->level >= kCpuAvx2) return test_add_avx2(p);
#else
  (void)context;
#endif
  test_add_baseline(p);
}
