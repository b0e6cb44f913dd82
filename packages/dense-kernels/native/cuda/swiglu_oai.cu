// SwiGLU-OAI on CUDA: blocks of 1024 columns of one row, all in one grid dimension; 16 bytes of gate
// and of up a thread and step. Bound by memory.
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/vector.cuh"
#include "dense_kernels/swiglu_oai.h"

namespace dense_kernels::cuda {
namespace {

constexpr int kColumns = 1024;  // of a block; the plan counts blocks by it

// 1 / (1 + e^-x) from e^-|x|, which neither overflows nor loses the digits of a tiny result.
__device__ __forceinline__ float sigmoid(float x) {
  const float power = expf(-fabsf(x));
  return (x < 0.0f ? power : 1.0f) / (1.0f + power);
}

// The gate has no lower clamp. A NaN in either input survives.
__device__ __forceinline__ float activate(float gate, float up, const SwigluOaiParams& p) {
  const float g = p.limit < gate ? p.limit : gate;
  const float below = p.limit < up ? p.limit : up;
  const float u = -p.limit > below ? -p.limit : below;
  return g * sigmoid(p.alpha * g) * (u + p.beta);
}

template <typename T>
__device__ __forceinline__ void swiglu_oai(const SwigluOaiParams& p) {
  const int pieces = (p.intermediate + kColumns - 1) / kColumns;
  const int64_t token = blockIdx.x / pieces;
  const int first = blockIdx.x % pieces * kColumns;
  const int end = min(first + kColumns, p.intermediate);
  const T* gate = static_cast<const T*>(p.gate) + token * p.gate_stride;
  const T* up = static_cast<const T*>(p.up) + token * p.up_stride;
  T* y = static_cast<T*>(p.y) + token * p.intermediate;
  const bool gate_aligned = is_aligned(gate);
  const bool up_aligned = is_aligned(up);
  const bool y_aligned = is_aligned(y);
  const int step = blockDim.x * kPack<T>;
  for (int column = first + threadIdx.x * kPack<T>; column < end; column += step) {
    Pack<T> values = load_pack(gate + column, gate_aligned, end - column);
    const Pack<T> ups = load_pack(up + column, up_aligned, end - column);
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) values.value[i] = activate(values.value[i], ups.value[i], p);
    store_pack(y + column, values, y_aligned, end - column);
  }
}

}  // namespace
}  // namespace dense_kernels::cuda

extern "C" __global__ void __launch_bounds__(256)
    swiglu_oai_bf16(__grid_constant__ const SwigluOaiParams p) {
  dense_kernels::cuda::wait_and_trigger();
  dense_kernels::cuda::swiglu_oai<dense_kernels::cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    swiglu_oai_f32(__grid_constant__ const SwigluOaiParams p) {
  dense_kernels::cuda::wait_and_trigger();
  dense_kernels::cuda::swiglu_oai<float>(p);
}
