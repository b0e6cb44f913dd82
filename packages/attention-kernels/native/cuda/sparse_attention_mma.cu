// Attention to the chosen blocks on tensor cores: the rows of paged_attention_mma.cu over the list
// of the token and KV head.
#include "attention_kernels/sparse_attention.h"

#include "device/attend_cluster.cuh"
#include "device/attend_rows.cuh"

extern "C" __global__ void __launch_bounds__(128, 3)
    sparse_attention_bf16_pieces(__grid_constant__ const SparseAttentionParams p) {
  using namespace attention_kernels::cuda;
  const Attend a = attend_of(p, p.blocks, p.topk_blocks);
  if (p.head_dim == 128) return attend_piece<128>(a);
  attend_piece<64>(a);
}

extern "C" __global__ void __launch_bounds__(128, 3)
    sparse_attention_bf16_cluster(__grid_constant__ const SparseAttentionParams p) {
  using namespace attention_kernels::cuda;
  const Attend a = attend_of(p, p.blocks, p.topk_blocks);
  if (p.head_dim == 128) return attend_cluster<128>(a);
  attend_cluster<64>(a);
}

extern "C" __global__ void __launch_bounds__(128, 3)
    sparse_attention_bf16_rows(__grid_constant__ const SparseAttentionParams p) {
  using namespace attention_kernels::cuda;
  const Attend a = attend_of(p, p.blocks, p.topk_blocks);
  if (p.head_dim == 128) return attend_rows<128>(a);
  attend_rows<64>(a);
}
