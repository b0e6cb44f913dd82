// y = a + b on CUDA: 16 bytes a thread and step, grid-stride. Bound by memory.
#include "dense_kernels/add.h"
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/vector.cuh"

namespace dense_kernels::cuda {
namespace {

template <typename T>
__device__ __forceinline__ void add(const AddParams& p) {
  const T* a = static_cast<const T*>(p.a);
  const T* b = static_cast<const T*>(p.b);
  T* y = static_cast<T*>(p.y);
  const bool a_aligned = is_aligned(a);
  const bool b_aligned = is_aligned(b);
  const bool y_aligned = is_aligned(y);
  const int64_t step = int64_t{gridDim.x} * blockDim.x * kPack<T>;
  int64_t i = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * kPack<T>;
  for (; i < p.count; i += step) {
    Pack<T> sum = load_pack(a + i, a_aligned, p.count - i);
    const Pack<T> other = load_pack(b + i, b_aligned, p.count - i);
#pragma unroll
    for (int k = 0; k < kPack<T>; ++k) sum.value[k] += other.value[k];
    store_pack(y + i, sum, y_aligned, p.count - i);
  }
}

}  // namespace
}  // namespace dense_kernels::cuda

extern "C" __global__ void __launch_bounds__(256) add_bf16(__grid_constant__ const AddParams p) {
  dense_kernels::cuda::wait_and_trigger();
  dense_kernels::cuda::add<dense_kernels::cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256) add_f32(__grid_constant__ const AddParams p) {
  dense_kernels::cuda::wait_and_trigger();
  dense_kernels::cuda::add<float>(p);
}
