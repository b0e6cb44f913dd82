// Dense causal attention on tensor cores: rows, whole or cut, for decode steps, chunks for prefill.
#include "attention_kernels/paged_attention.h"
#include "dense_kernels/cuda/pdl.cuh"

#include "device/attend_chunk.cuh"
#include "device/attend_cluster.cuh"
#include "device/attend_rows.cuh"

extern "C" __global__ void __launch_bounds__(128, 3)
    paged_attention_bf16_pieces(__grid_constant__ const PagedAttentionParams p) {
  using namespace attention_kernels::cuda;
  const Attend a = attend_of(p, nullptr, 0);
  if (p.head_dim == 128) return attend_piece<128>(a);
  attend_piece<64>(a);
}

extern "C" __global__ void __launch_bounds__(128, 3)
    paged_attention_bf16_cluster(__grid_constant__ const PagedAttentionParams p) {
  using namespace attention_kernels::cuda;
  const Attend a = attend_of(p, nullptr, 0);
  if (p.head_dim == 128) return attend_cluster<128>(a);
  attend_cluster<64>(a);
}

extern "C" __global__ void __launch_bounds__(128, 3)
    paged_attention_bf16_rows(__grid_constant__ const PagedAttentionParams p) {
  using namespace attention_kernels::cuda;
  const Attend a = attend_of(p, nullptr, 0);
  if (p.head_dim == 128) return attend_rows<128>(a);
  attend_rows<64>(a);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    paged_attention_bf16_chunk(__grid_constant__ const PagedAttentionParams p) {
  dense_kernels::cuda::wait_and_trigger();
  using namespace attention_kernels::cuda;
  const Attend a = attend_of(p, nullptr, 0);
  if (p.head_dim == 128) return attend_chunk<128>(a);
  attend_chunk<64>(a);
}
