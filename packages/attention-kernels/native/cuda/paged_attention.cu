// Dense causal attention on CUDA, general kernels: any sizes. Tensor cores: paged_attention_mma.cu.
#include "attention_kernels/paged_attention.h"
#include "dense_kernels/cuda/pdl.cuh"

#include "device/attend_general.cuh"

extern "C" __global__ void __launch_bounds__(128, 4)
    paged_attention_bf16(__grid_constant__ const PagedAttentionParams p) {
  dense_kernels::cuda::wait_and_trigger();
  using namespace attention_kernels::cuda;
  general::attend<dense_kernels::cuda::Bf16>(attend_of(p, nullptr, 0));
}

extern "C" __global__ void __launch_bounds__(128, 4)
    paged_attention_f32(__grid_constant__ const PagedAttentionParams p) {
  dense_kernels::cuda::wait_and_trigger();
  using namespace attention_kernels::cuda;
  general::attend<float>(attend_of(p, nullptr, 0));
}
