// How the pieces of a split query row are joined, at most a run's sixteen at a time: a warp has one
// row, a thread one dim of it. The joins are those of a row that was not split (fold.cuh), in the
// same order, so the result has its bits.
//
// What the joins multiply by follows from the pieces' maxima alone: the lanes of a warp form it
// together, and a dim's joins are two multiplications and an addition each.
#ifndef ATTENTION_KERNELS_CUDA_DEVICE_JOIN_PIECES_CUH
#define ATTENTION_KERNELS_CUDA_DEVICE_JOIN_PIECES_CUH

#include "dense_kernels/cuda/reduce.cuh"

#include "fold.cuh"

namespace attention_kernels::cuda {

constexpr int kBatch = kRunKeys / kPieceKeys;  // pieces

// Floats from a thread's value of a piece to that of the next.
constexpr int kValueStride = 128;

// A part of the row and the thread's dim of it. Nothing is -0, which changes no bit of what is
// added.
struct Joined {
  Part part = {kMinusInfinity, -0.0f};
  float value = -0.0f;

  __device__ __forceinline__ void join(const Joined& other, float factor) {
    const Fold fold(part, other.part, factor);
    value = fold.join(value, other.value);
  }

  // The row's output; zero if it met no key.
  __device__ __forceinline__ float mean() const {
    return part.sum == 0.0f ? 0.0f : __fdiv_rn(value, part.sum);
  }
};

// How a piece joins those before it: value = value * before + its value * own.
struct alignas(16) Step {
  float before;
  float own;  // negative: the piece is empty
  float sum;  // the piece's sum, times `own`
};

// The steps of a batch, of which the lane's piece has `part`; returns the largest score behind
// them. `before` is the largest before. The same numbers as Fold forms one after the other.
__device__ __forceinline__ float make_steps(Step* steps, const Part& part, float before,
                                            float factor) {
  using dense_kernels::cuda::kAllLanes;
  using dense_kernels::cuda::lane_id;
  const bool is_empty = part.sum == 0.0f;
  float largest = is_empty ? kMinusInfinity : part.largest;
#pragma unroll
  for (int offset = 1; offset < kBatch; offset *= 2) {
    const float lower = __shfl_up_sync(kAllLanes, largest, offset);
    if (lane_id() >= offset) largest = fmaxf(largest, lower);
  }
  const float lower = __shfl_up_sync(kAllLanes, largest, 1);
  const float from = lane_id() == 0 ? before : fmaxf(before, lower);
  const float to = fmaxf(before, largest);
  const float own = is_empty ? -1.0f : rescale(part.largest, to, factor);
  if (lane_id() < kBatch) {
    steps[lane_id()] = {rescale(from, to, factor), own, __fmul_rn(part.sum, own)};
  }
  __syncwarp();
  return __shfl_sync(kAllLanes, to, kBatch - 1);
}

// Joins the batch of these steps to `all`, given the thread's value of each piece.
__device__ __forceinline__ void join_steps(Joined& all, const Step* steps, const float* values) {
#pragma unroll 4
  for (int i = 0; i < kBatch; ++i) {
    const Step step = steps[i];
    const bool is_empty = step.own < 0.0f;  // whatever its value is, and if it is not there
    const float value = is_empty ? -0.0f : __fmul_rn(values[i * kValueStride], step.own);
    all.value = __fmaf_rn(all.value, step.before, value);
    all.part.sum = __fmaf_rn(all.part.sum, step.before, is_empty ? -0.0f : step.sum);
  }
  __syncwarp();  // the steps are done with; the values are the thread's own
}

}  // namespace attention_kernels::cuda

#endif
