// Joins the pieces of split query rows on CUDA: a block per row, a thread per dim. The joins are those
// of a row that was not split (device/fold.cuh), so the result has its bits.
#include "attention_kernels/attention_combine.h"
#include "dense_kernels/cuda/convert.cuh"
#include "dense_kernels/cuda/pdl.cuh"

#include "device/fold.cuh"

namespace attention_kernels::cuda {
namespace {

using dense_kernels::cuda::Bf16;
using dense_kernels::cuda::round_to;

constexpr int kLoads = 16;

// A part of the row and the thread's dim of it.
struct Joined {
  Part part;
  float value = 0.0f;

  __device__ __forceinline__ void join(const Joined& other, float factor) {
    const Fold fold(part, other.part, factor);
    value = fold.join(value, other.value);
  }
};

__device__ __forceinline__ int32_t pieces_of(const AttentionCombineParams& p, int64_t position) {
  if (position < 0) return 0;
  const int64_t keys = p.is_causal ? min(position + 1, p.most_keys) : p.most_keys;
  return static_cast<int32_t>((keys + p.piece_keys - 1) / p.piece_keys);
}

}  // namespace
}  // namespace attention_kernels::cuda

// Grid: x a token, y a head.
extern "C" __global__ void __launch_bounds__(128)
    attention_combine_bf16(__grid_constant__ const AttentionCombineParams p) {
  dense_kernels::cuda::wait_and_trigger();
  using namespace attention_kernels::cuda;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * p.heads + blockIdx.y;
  const int32_t pieces = pieces_of(p, p.positions[blockIdx.x]);
  const int32_t pieces_of_run = kRunKeys / p.piece_keys;
  const float factor = score_factor(p.scale);
  const float* of_row = p.partials + row * p.pieces * (p.head_dim + 2);
  for (int32_t d = threadIdx.x; d < p.head_dim; d += blockDim.x) {
    Joined all, run;
    for (int32_t first = 0; first < pieces; first += kLoads) {
      Joined next[kLoads];  // all on their way before the first is joined
#pragma unroll
      for (int32_t i = 0; i < kLoads; ++i) {
        if (first + i >= pieces) continue;
        const float* piece = of_row + static_cast<int64_t>(first + i) * (p.head_dim + 2);
        next[i].part = {piece[p.head_dim], piece[p.head_dim + 1]};
        next[i].value = piece[d];
      }
#pragma unroll
      for (int32_t i = 0; i < kLoads; ++i) {
        run.join(next[i], factor);  // what does not exist is empty and changes nothing
        if ((first + i + 1) % pieces_of_run != 0) continue;
        all.join(run, factor);
        run = Joined{};
      }
    }
    all.join(run, factor);
    const float value = all.part.sum == 0.0f ? 0.0f : __fdiv_rn(all.value, all.part.sum);
    static_cast<Bf16*>(p.out)[row * p.head_dim + d] = round_to<Bf16>(value);
  }
}
