// test_parallel on the CPU.
#include "test_kernels/parallel.h"

static void square(void* argument, int64_t begin, int64_t end) {
  int64_t* y = static_cast<int64_t*>(argument);
  for (int64_t i = begin; i < end; ++i) y[i] = i * i;
}

extern "C" void test_parallel(const ParallelParams* p, const CpuContext* context) {
  context->parallel_for(context, p->count, p->grain, square, p->y);
}
