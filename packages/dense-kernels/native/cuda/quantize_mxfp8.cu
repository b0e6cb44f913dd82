// Rows to MXFP8 on CUDA: eight neighbours a thread, four threads a block of 32 and a scale; one
// grid over all elements. Integer arithmetic and exact products, so the bytes are those of the CPU.
// Bound by memory.
#include "dense_kernels/cuda/reduce.cuh"
#include "dense_kernels/cuda/vector.cuh"
#include "dense_kernels/quantize_mxfp8.h"

namespace dense_kernels::cuda {
namespace {

constexpr int kAtOnce = 8;            // elements a thread
constexpr int kThreadsPerScale = 4;   // 32 elements
constexpr uint32_t kInfinityBits = 0x7f800000u;

// floor(log2 amax) - 8 as an E8M0 byte; fp32 subnormals give 0.
__device__ __forceinline__ uint32_t floor_scale(uint32_t amax) {
  const uint32_t exponent = amax >> 23;
  return exponent > 8 ? exponent - 8 : 0;
}

// The smallest power of two that brings amax to 448 or below.
__device__ __forceinline__ uint32_t rceil_scale(uint32_t amax) {
  const uint32_t v = __float_as_uint(__uint_as_float(amax) * (1.0f / 448.0f));
  const uint32_t exponent = v >> 23;
  const uint32_t mantissa = v & 0x7fffffu;
  if (exponent == 0) return mantissa > 0x400000u ? 1 : 0;
  return exponent + (mantissa != 0 ? 1 : 0);
}

// The scale byte of a block whose largest finite magnitude has the bits `amax`.
__device__ __forceinline__ uint32_t scale_byte(uint32_t amax, int32_t mode) {
  if (mode == 0) return rceil_scale(amax);
  if (mode == 1) return floor_scale(amax);
  if (mode == 2) {
    const uint32_t exponent = (amax >> 23) + ((amax & 0x7fffffu) != 0 ? 1 : 0);
    return exponent > 8 ? exponent - 8 : 0;
  }
  return floor_scale(amax + (1u << 19));  // even: half of the last place of three mantissa bits
}

template <typename X>
__device__ __forceinline__ void load_eight(const X* from, float (&value)[kAtOnce]) {
  const bool aligned = is_aligned(from);
#pragma unroll
  for (int i = 0; i < kAtOnce; i += kPack<X>) {
    const Pack<X> pack = load_pack(from + i, aligned, kPack<X>);
#pragma unroll
    for (int k = 0; k < kPack<X>; ++k) value[i + k] = pack.value[k];
  }
}

template <typename X>
__device__ __forceinline__ void quantize_mxfp8(const QuantizeMxfp8Params& p) {
  // The block's first element divided once; a thread's distance from it fits 32 bits.
  const int64_t count = int64_t{p.rows} * p.columns;
  const int64_t base = int64_t{blockIdx.x} * blockDim.x * kAtOnce;
  const int offset = threadIdx.x * kAtOnce;
  const bool exists = base + offset < count;  // the same for the four threads of a scale
  const uint32_t column = static_cast<uint32_t>(base % p.columns) + offset;
  const int64_t row = base / p.columns + column / static_cast<uint32_t>(p.columns);
  float value[kAtOnce] = {};
  if (exists) {
    load_eight(static_cast<const X*>(p.x) + row * p.x_stride +
                   column % static_cast<uint32_t>(p.columns),
               value);
  }
  uint32_t amax = 0;
#pragma unroll
  for (int i = 0; i < kAtOnce; ++i) amax = max(amax, __float_as_uint(value[i]) & 0x7fffffffu);
  amax = warp_reduce<Max, kThreadsPerScale>(amax);
  if (!exists) return;
  const bool is_nan =
      amax > kInfinityBits || (amax == kInfinityBits && p.infinity_nan != 0);
  const uint32_t byte =
      is_nan ? 255u : amax == kInfinityBits ? 254u : scale_byte(amax, p.scale_mode);
  // 2^(127 - byte); for 254 that is an fp32 subnormal
  const float inverse = __uint_as_float(byte >= 254 ? 0x00400000u : (254u - byte) << 23);
  uint8_t* data = static_cast<uint8_t*>(p.data) + base + offset;
  const bool aligned = is_aligned(data, 4);
#pragma unroll
  for (int i = 0; i < kAtOnce; i += 4) {
    const uint32_t codes = f32_to_e4m3x4(value[i] * inverse, value[i + 1] * inverse,
                                         value[i + 2] * inverse, value[i + 3] * inverse);
    store_bytes4(data + i, is_nan ? 0x7f7f7f7fu : codes, aligned);
  }
  if (threadIdx.x % kThreadsPerScale == 0) {
    static_cast<uint8_t*>(p.scales)[(base + offset) / 32] = static_cast<uint8_t>(byte);
  }
}

}  // namespace
}  // namespace dense_kernels::cuda

extern "C" __global__ void __launch_bounds__(256)
    quantize_mxfp8_f32(__grid_constant__ const QuantizeMxfp8Params p) {
  dense_kernels::cuda::quantize_mxfp8<float>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    quantize_mxfp8_bf16(__grid_constant__ const QuantizeMxfp8Params p) {
  dense_kernels::cuda::quantize_mxfp8<dense_kernels::cuda::Bf16>(p);
}
