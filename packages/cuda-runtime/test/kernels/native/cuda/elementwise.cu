// The element-wise test kernels on CUDA: one thread an element, grid-stride.
#include "test_kernels/accumulate.h"
#include "test_kernels/add.h"
#include "test_kernels/choose.h"
#include "test_kernels/empty.h"
#include "test_kernels/fill.h"
#include "test_kernels/overrun.h"
#include "test_kernels/parallel.h"

namespace test_kernels::elementwise {
__device__ inline int64_t first() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline int64_t stride() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }
}  // namespace test_kernels::elementwise

namespace each = test_kernels::elementwise;

extern "C" __global__ void test_fill(__grid_constant__ const FillParams p) {
  for (int64_t i = each::first(); i < p.count; i += each::stride()) p.y[i] = p.value;
}

extern "C" __global__ void test_overrun(__grid_constant__ const OverrunParams p) {
  if (each::first() == 0) p.y[p.index] = p.value;
}

extern "C" __global__ void test_add(__grid_constant__ const AddParams p) {
  for (int64_t i = each::first(); i < p.count; i += each::stride()) {
    p.y[i] = (p.a[i] + (p.b != nullptr ? p.b[i] : 0.0f)) * p.scale;
  }
}

extern "C" __global__ void test_accumulate(__grid_constant__ const AccumulateParams p) {
  for (int64_t i = each::first(); i < p.count; i += each::stride()) {
    const uint32_t scaled = static_cast<uint32_t>(p.y[i]) * static_cast<uint32_t>(p.factor);
    p.y[i] = static_cast<int32_t>(scaled + static_cast<uint32_t>(p.x));
  }
}

extern "C" __global__ void test_parallel(__grid_constant__ const ParallelParams p) {
  // Through shared memory, so that one kernel here has some of its own.
  volatile __shared__ int64_t squares[256];
  for (int64_t i = each::first(); i < p.count; i += each::stride()) {
    squares[threadIdx.x] = i * i;
    p.y[i] = squares[threadIdx.x];
  }
}

extern "C" __global__ void test_choose(__grid_constant__ const ChooseParams p) {
  const int32_t chosen = p.first ? p.a : p.b;
  *p.y = (p.negate ? -chosen : chosen) * (p.twice ? 2 : 1);
}

extern "C" __global__ void test_empty(__grid_constant__ const EmptyParams) {}
