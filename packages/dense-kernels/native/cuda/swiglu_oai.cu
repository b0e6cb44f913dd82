// SwiGLU-OAI on CUDA: blocks of 1024 columns of one row, all in one grid dimension; four columns a
// thread, which keeps the code short. Bound by memory, by latency with one token.
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

// What a block works on.
template <typename T>
struct Piece {
  const T* gate;
  const T* up;
  T* y;
  int first, end;  // columns

  __device__ __forceinline__ explicit Piece(const SwigluOaiParams& p) {
    const uint32_t pieces = (p.intermediate + kColumns - 1) / kColumns;
    const int64_t token = blockIdx.x / pieces;
    first = blockIdx.x % pieces * kColumns;
    end = min(first + kColumns, p.intermediate);
    gate = static_cast<const T*>(p.gate) + token * p.gate_stride;
    up = static_cast<const T*>(p.up) + token * p.up_stride;
    y = static_cast<T*>(p.y) + token * p.intermediate;
  }
};

// Any piece; a function of its own, so that its code is not fetched where it does not run.
template <typename T>
__device__ __noinline__ void activate_any(const SwigluOaiParams& p) {
  const Piece<T> piece(p);
#pragma unroll 1
  for (int column = piece.first + threadIdx.x; column < piece.end; column += blockDim.x) {
    const float value = activate(to_f32(piece.gate[column]), to_f32(piece.up[column]), p);
    piece.y[column] = round_to<T>(value);
  }
}

__device__ __forceinline__ void load4(const float* from, float (&value)[4]) {
  const float4 word = *reinterpret_cast<const float4*>(from);
  value[0] = word.x;
  value[1] = word.y;
  value[2] = word.z;
  value[3] = word.w;
}
__device__ __forceinline__ void load4(const Bf16* from, float (&value)[4]) {
  const uint2 word = *reinterpret_cast<const uint2*>(from);
  value[0] = bf16x2_low(word.x);
  value[1] = bf16x2_high(word.x);
  value[2] = bf16x2_low(word.y);
  value[3] = bf16x2_high(word.y);
}

__device__ __forceinline__ void store4(float* to, const float (&value)[4]) {
  *reinterpret_cast<float4*>(to) = float4{value[0], value[1], value[2], value[3]};
}
__device__ __forceinline__ void store4(Bf16* to, const float (&value)[4]) {
  *reinterpret_cast<uint2*>(to) =
      uint2{f32_to_bf16x2(value[0], value[1]), f32_to_bf16x2(value[2], value[3])};
}

template <typename T>
__device__ __forceinline__ void swiglu_oai(const SwigluOaiParams& p) {
  const Piece<T> piece(p);
  const auto bits = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  const uintptr_t all = bits(piece.gate) | bits(piece.up) | bits(piece.y);
  if (all % (4 * sizeof(T)) != 0 || piece.end % 4 != 0) {
    activate_any<T>(p);
    return;
  }
#pragma unroll 1
  for (int column = piece.first + threadIdx.x * 4; column < piece.end; column += blockDim.x * 4) {
    float gates[4], ups[4];
    load4(piece.gate + column, gates);
    load4(piece.up + column, ups);
#pragma unroll
    for (int i = 0; i < 4; ++i) gates[i] = activate(gates[i], ups[i], p);
    store4(piece.y + column, gates);
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
