// Joins the pieces of split query rows on CUDA (device/join_pieces.cuh): a block per row, a thread
// per dim. Pieces come in batches of a run's sixteen; groups of threads have batches of their own.
// Everything of a batch is on its way at once.
#include "attention_kernels/attention_combine.h"
#include "dense_kernels/cuda/convert.cuh"
#include "dense_kernels/cuda/mma.cuh"
#include "dense_kernels/cuda/pdl.cuh"

#include "device/join_pieces.cuh"

namespace attention_kernels::cuda {
namespace {

using dense_kernels::cuda::Bf16;
using dense_kernels::cuda::commit_copies;
using dense_kernels::cuda::kWarp;
using dense_kernels::cuda::lane_id;
using dense_kernels::cuda::round_to;
using dense_kernels::cuda::shared_address;
using dense_kernels::cuda::wait_copies;

constexpr int kMostDims = kValueStride;  // of a group of threads
constexpr int kMostGroups = 4;
constexpr int kMostThreads = kMostDims * kMostGroups;

struct Shared {
  Step steps[kMostThreads / kWarp][kBatch];  // of each warp, which may all have the same
  float batches[kMostGroups][kBatch][kMostDims];
  float values[kMostGroups][kMostDims];  // of each group's run
  Part parts[kMostGroups];
};

// Copies four aligned bytes from global to shared memory in the background.
__device__ __forceinline__ void copy4_async(float* to, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
               :
               : "r"(shared_address(to)), "l"(from)
               : "memory");
}

__device__ __forceinline__ int32_t pieces_of(const AttentionCombineParams& p, int64_t position) {
  if (position < 0) return 0;
  const int64_t keys = p.is_causal ? min(position + 1, p.most_keys) : p.most_keys;
  // Both divisors are powers of two.
  const int shift = p.piece_keys == kPieceKeys ? __ffs(kPieceKeys) - 1 : __ffs(kRunKeys) - 1;
  return static_cast<int32_t>((keys + p.piece_keys - 1) >> shift);
}

// Joins pieces [first, first + kBatch) of the row to `all`, those of them that there are.
__device__ __forceinline__ void join_batch(Joined& all, const AttentionCombineParams& p,
                                           const float* of_row, int32_t first, int32_t pieces,
                                           int32_t d, float factor, Step* steps, float* values) {
  const int32_t width = p.head_dim + 2;
  const int32_t count = min(pieces - first, kBatch);
  const float* piece = of_row + static_cast<int64_t>(first) * width;
  Part part;
  if (lane_id() < count) {
    const float* at = piece + lane_id() * width + p.head_dim;
    part = {at[0], at[1]};
  }
  // Threads without a dim read the piece's largest score.
  const float* at = piece + min(d, p.head_dim);
#pragma unroll 4
  for (int i = 0; i < kBatch; ++i) {
    if (i < count) copy4_async(values + i * kMostDims, at);
    at += width;
  }
  commit_copies();
  all.part.largest = make_steps(steps, part, all.part.largest, factor);
  wait_copies<0>();
  join_steps(all, steps, values);
}

// All pieces of the row.
__device__ __forceinline__ Joined join_row(Shared& s, const AttentionCombineParams& p,
                                           const float* of_row, int32_t pieces, int32_t d) {
  const float factor = score_factor(p.scale);
  const int32_t group = threadIdx.y;
  const int32_t groups = blockDim.y;
  Step* steps = s.steps[(group * blockDim.x + threadIdx.x) / kWarp];
  float* values = &s.batches[group][0][threadIdx.x];
  const bool are_runs = p.piece_keys == kRunKeys;  // then there is one group
  Joined row, run;
#pragma unroll 1
  for (int32_t first = 0; first < pieces; first += groups * kBatch) {
    const int32_t own = first + group * kBatch;
    if (own < pieces) join_batch(run, p, of_row, own, pieces, d, factor, steps, values);
    if (are_runs) continue;
    s.values[group][threadIdx.x] = run.value;
    if (threadIdx.x == 0) s.parts[group] = run.part;
    __syncthreads();
#pragma unroll 1
    for (int32_t i = 0; i < groups; ++i) {
      run.part = s.parts[i];
      run.value = s.values[i][threadIdx.x];
      row.join(run, factor);
    }
    run = Joined{};
    __syncthreads();
  }
  return are_runs ? run : row;
}

}  // namespace
}  // namespace attention_kernels::cuda

// Grid: x a token, y a head. Block: x dims, y groups.
extern "C" __global__ void __launch_bounds__(512)
    attention_combine_bf16(__grid_constant__ const AttentionCombineParams p) {
  using namespace attention_kernels::cuda;
  __shared__ Shared s;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * p.heads + blockIdx.y;
  const float* of_row = p.partials + row * p.pieces * (p.head_dim + 2);
  dense_kernels::cuda::wait_and_trigger();
  const int32_t pieces = pieces_of(p, p.positions[blockIdx.x]);
#pragma unroll 1
  for (int32_t first = 0; first < p.head_dim; first += blockDim.x) {
    const int32_t d = first + threadIdx.x;
    const Joined joined = join_row(s, p, of_row, pieces, d);
    if (threadIdx.y != 0 || d >= p.head_dim) continue;
    static_cast<Bf16*>(p.out)[row * p.head_dim + d] = round_to<Bf16>(joined.mean());
  }
}
