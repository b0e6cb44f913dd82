// Attention to the chosen blocks on CUDA, general kernels: the walk of paged_attention.cu over the
// list of the token and KV head. Tensor cores: sparse_attention_mma.cu.
#include "attention_kernels/sparse_attention.h"
#include "dense_kernels/cuda/pdl.cuh"

#include "device/attend_general.cuh"

extern "C" __global__ void __launch_bounds__(128, 4)
    sparse_attention_bf16(__grid_constant__ const SparseAttentionParams p) {
  dense_kernels::cuda::wait_and_trigger();
  using namespace attention_kernels::cuda;
  general::attend<dense_kernels::cuda::Bf16>(attend_of(p, p.blocks, p.topk_blocks));
}

extern "C" __global__ void __launch_bounds__(128, 4)
    sparse_attention_f32(__grid_constant__ const SparseAttentionParams p) {
  dense_kernels::cuda::wait_and_trigger();
  using namespace attention_kernels::cuda;
  general::attend<float>(attend_of(p, p.blocks, p.topk_blocks));
}
