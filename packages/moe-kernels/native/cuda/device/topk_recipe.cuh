// The numbers of a routing recipe in TopkParams, and its divisor.
#ifndef MOE_KERNELS_CUDA_DEVICE_TOPK_RECIPE_CUH
#define MOE_KERNELS_CUDA_DEVICE_TOPK_RECIPE_CUH

namespace moe_kernels::cuda {

enum Score { kLogit = 0, kSoftmax = 1, kSigmoid = 2, kSqrtSoftplus = 3 };
enum GroupRule { kLargestKey = 0, kTwoLargestKeys = 1 };
enum Normalize { kNone = 0, kSum = 1, kFlooredSum = 2, kSoftmaxOfChosen = 3 };

constexpr float kTinySum = 1e-20f;  // keeps an all-zero row at 0 instead of 0/0

// What the chosen weights are divided by; `sum` was made in the order of the slots.
template <typename Params>
__device__ __forceinline__ float divisor_of_sum(const Params& p, float sum) {
  if (p.normalize == kFlooredSum) return sum > kTinySum ? sum : kTinySum;
  return __fadd_rn(sum, kTinySum);
}

}  // namespace moe_kernels::cuda

#endif
