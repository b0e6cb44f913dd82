// MXFP8 rows back to f32 or bf16 on CUDA: 16 bytes of the result a thread and step, 4096 elements a
// block. Bound by memory.
#include "dense_kernels/cuda/vector.cuh"
#include "dense_kernels/dequantize_mxfp8.h"

namespace dense_kernels::cuda {
namespace {

constexpr int kElements = 4096;  // of a block; the plan counts blocks by it

template <typename Y>
__device__ __forceinline__ void dequantize_mxfp8(const DequantizeMxfp8Params& p) {
  const int64_t count = int64_t{p.rows} * p.columns;
  const uint8_t* codes = static_cast<const uint8_t*>(p.data);
  const uint8_t* scales = static_cast<const uint8_t*>(p.scales);
  Y* y = static_cast<Y*>(p.y);
  const bool codes_aligned = is_aligned(codes, 4);
  const bool y_aligned = is_aligned(y);
  const int64_t end = min((int64_t{blockIdx.x} + 1) * kElements, count);
  const int step = blockDim.x * kPack<Y>;
  int64_t i = int64_t{blockIdx.x} * kElements + threadIdx.x * kPack<Y>;
  for (; i < end; i += step) {
    const float scale = e8m0_to_f32(scales[i / 32]);  // a pack never crosses a block of 32
    Pack<Y> pack;
#pragma unroll
    for (int k = 0; k < kPack<Y>; k += 4) {
      float value[4];
      e4m3x4_to_f32(load_bytes4(codes + i + k, codes_aligned), value);
#pragma unroll
      for (int j = 0; j < 4; ++j) pack.value[k + j] = value[j] * scale;
    }
    store_pack(y + i, pack, y_aligned, kPack<Y>);
  }
}

}  // namespace
}  // namespace dense_kernels::cuda

extern "C" __global__ void __launch_bounds__(256)
    dequantize_mxfp8_f32(__grid_constant__ const DequantizeMxfp8Params p) {
  dense_kernels::cuda::dequantize_mxfp8<float>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    dequantize_mxfp8_bf16(__grid_constant__ const DequantizeMxfp8Params p) {
  dense_kernels::cuda::dequantize_mxfp8<dense_kernels::cuda::Bf16>(p);
}
