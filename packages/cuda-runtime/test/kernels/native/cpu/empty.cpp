// test_empty on the CPU.
#include "test_kernels/empty.h"

extern "C" void test_empty(const EmptyParams*, const CpuContext*) {}
