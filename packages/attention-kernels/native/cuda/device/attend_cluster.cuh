// Rows of attention in one launch, though each piece of their keys has a block: the pieces' blocks
// are a cluster, each leaves its rows in its shared memory, and each joins a share of the rows from
// that of all. The bits are those of attend_piece and then attention_combine, whose joins these
// are. sm_90 and later, at most a run's sixteen pieces.
#ifndef ATTENTION_KERNELS_CUDA_DEVICE_ATTEND_CLUSTER_CUH
#define ATTENTION_KERNELS_CUDA_DEVICE_ATTEND_CLUSTER_CUH

#include "attend_rows.cuh"
#include "cluster.cuh"
#include "join_pieces.cuh"

namespace attention_kernels::cuda {

using dense_kernels::cuda::round_to;

// What the block's threads have of the rows that they join, of each piece.
struct PulledRows {
  float values[kBatch][kRowThreads];
  Step steps[kRowWarps][kBatch];
};
static_assert(kRowThreads == kValueStride);

// Takes over the thread's dim of a row from every block of the cluster, and makes the warp's steps
// of it. All loads are on their way at once.
template <int kDims>
__device__ __forceinline__ void pull_row(PulledRows& pulled, const KeptRows<kDims>& kept,
                                         int32_t row, int32_t d, float factor) {
  const int32_t pieces = gridDim.z;
  Part part;
  if (lane_id() < pieces) {
    const float2 both = load2_of_cluster(address_in_block(&kept.parts[row], lane_id()));
    part = {both.x, both.y};
  }
  float values[kBatch];
#pragma unroll
  for (int i = 0; i < kBatch; ++i) {
    values[i] = 0.0f;
    if (i < pieces) values[i] = load_of_cluster(address_in_block(&kept.values[row][d], i));
  }
  make_steps(pulled.steps[warp_id()], part, kMinusInfinity, factor);
#pragma unroll
  for (int i = 0; i < kBatch; ++i) pulled.values[i][threadIdx.x] = values[i];
}

// Joins the pieces of the block's share of the rows. The cluster's threads call it together.
template <int kDims>
__device__ __forceinline__ void join_rows(const RowsBlock<kDims>& block,
                                          const KeptRows<kDims>& kept, PulledRows& pulled) {
  constexpr int32_t kRowsAtOnce = kRowThreads / kDims;  // of a block
  const Unit& unit = block.unit;
  const int32_t d = threadIdx.x % kDims;
  const int32_t turn = gridDim.z * kRowsAtOnce;  // rows that the cluster joins at a time
  int32_t row = blockIdx.z * kRowsAtOnce + threadIdx.x / kDims;
  Bf16* out = static_cast<Bf16*>(block.a.out) +
              (unit.token * block.a.heads + unit.first_head) * kDims + d;
  // Threads without a row take each turn, too: barriers are for all.
#pragma unroll 1
  for (int32_t first = 0; first < unit.heads; first += turn, row += turn) {
    pull_row(pulled, kept, min(row, kTileRows - 1), d, block.factor);
    if (first + turn >= unit.heads) cluster_arrive();  // other blocks may end
    Joined joined;
    join_steps(joined, pulled.steps[warp_id()], &pulled.values[0][threadIdx.x]);
    if (row < unit.heads) out[row * kDims] = round_to<Bf16>(joined.mean());
  }
  cluster_wait();
}

// Grid: x a token, y sixteen of its query heads, z a piece of its keys; cluster: all of z. Shared
// memory: RowsShared.
template <int kDims>
__device__ __forceinline__ void attend_cluster(const Attend& a) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ uint4 shared[];
  RowsShared<kDims>& s = *reinterpret_cast<RowsShared<kDims>*>(shared);
  static_assert(sizeof(KeptRows<kDims>) <= sizeof(s.keys));
  static_assert(sizeof(PulledRows) <= sizeof(s.values));
  RowsBlock<kDims> block(s, a);
  Quarter<kDims> rows;  // without keys if the piece is not there
  if (weigh_piece(block)) rows.take_piece(s, block.factor);
  KeptRows<kDims>& kept = *reinterpret_cast<KeptRows<kDims>*>(s.keys);
  kept.keep(rows);
  cluster_arrive();
  cluster_wait();  // the rows of all pieces are there, and this block's values are done with
  join_rows(block, kept, *reinterpret_cast<PulledRows*>(s.values));
#else
  __trap();  // no plan chooses it
#endif
}

}  // namespace attention_kernels::cuda

#endif
