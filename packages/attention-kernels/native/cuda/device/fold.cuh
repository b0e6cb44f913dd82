// How two parts of a query row's softmax become one, in one arithmetic for all who do it: the same
// parts joined in the same order give the same bits, in whatever kernel.
//
// A part is what a row has of some of its keys: the largest score, the sum of exp(score - largest),
// and the sum of exp(score - largest) * value. Keys are met in steps of 32, four steps are a piece,
// sixteen pieces a run; pieces are joined to runs and runs to the row, each in ascending order. So
// the order of additions depends on the places of the keys alone, and any piece or run may be
// computed elsewhere.
#ifndef ATTENTION_KERNELS_CUDA_DEVICE_FOLD_CUH
#define ATTENTION_KERNELS_CUDA_DEVICE_FOLD_CUH

#include "blocks.cuh"

namespace attention_kernels::cuda {

constexpr int32_t kStepKeys = 32;
constexpr int32_t kPieceKeys = 128;
constexpr int32_t kRunKeys = 2048;

// 2^x; 0 for what would be subnormal.
__device__ __forceinline__ float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// What scores are multiplied by before exp2.
__device__ __forceinline__ float score_factor(float scale) {
  return __fmul_rn(scale, 1.4426950408889634f);
}

// exp((from - to) * scale) for to >= from; 1 if they are equal, infinities included.
__device__ __forceinline__ float rescale(float from, float to, float factor) {
  return from == to ? 1.0f : exp2_fast(__fmul_rn(from - to, factor));
}

// Largest score, before scaling, and sum of exp of a part; the sum is 0 only if it has no keys.
struct Part {
  float largest = kMinusInfinity;
  float sum = 0.0f;
};

// How the values of two parts are joined.
class Fold {
 public:
  // `a` becomes the join of `a` and `b`.
  __device__ __forceinline__ Fold(Part& a, const Part& b, float factor) {
    keeps_a_ = b.sum == 0.0f;
    takes_b_ = !keeps_a_ && a.sum == 0.0f;
    const float largest = fmaxf(a.largest, b.largest);
    a_ = rescale(a.largest, largest, factor);
    b_ = rescale(b.largest, largest, factor);
    a.sum = join(a.sum, b.sum);
    if (!keeps_a_) a.largest = takes_b_ ? b.largest : largest;
  }

  __device__ __forceinline__ float join(float a, float b) const {
    const float both = __fmaf_rn(a, a_, __fmul_rn(b, b_));
    return keeps_a_ ? a : takes_b_ ? b : both;
  }

 private:
  bool keeps_a_, takes_b_;
  float a_, b_;
};

}  // namespace attention_kernels::cuda

#endif
