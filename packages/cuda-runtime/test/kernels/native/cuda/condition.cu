// test_condition on CUDA.
#include "test_kernels/condition.h"

extern "C" __global__ void test_condition(__grid_constant__ const ConditionParams p) {
  *p.counter -= 1;
  const int32_t left = *p.counter;
  cudaGraphSetConditional(p.condition, left > 0 ? static_cast<unsigned>(left) : 0);
}
