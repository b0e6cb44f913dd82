// linear on CUDA for many tokens (../device/linear_tiles.cuh).
#include "../device/linear_tiles.cuh"

namespace cuda = dense_kernels::cuda;

extern "C" __global__ void __launch_bounds__(256)
    linear_bf16_bf16_f32_tile(__grid_constant__ const LinearParams p) {
  dense_kernels::cuda::wait_and_trigger();
  cuda::tile_linear<cuda::Narrow<cuda::Bf16Weight>, float>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_bf16_bf16_bf16_tile(__grid_constant__ const LinearParams p) {
  dense_kernels::cuda::wait_and_trigger();
  cuda::tile_linear<cuda::Narrow<cuda::Bf16Weight>, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_mxfp8_bf16_f32_tile(__grid_constant__ const LinearParams p) {
  dense_kernels::cuda::wait_and_trigger();
  cuda::tile_linear<cuda::Narrow<cuda::Mxfp8Weight>, float>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_mxfp8_bf16_bf16_tile(__grid_constant__ const LinearParams p) {
  dense_kernels::cuda::wait_and_trigger();
  cuda::tile_linear<cuda::Narrow<cuda::Mxfp8Weight>, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    linear_bf16_bf16_f32_wide(__grid_constant__ const LinearParams p) {
  dense_kernels::cuda::wait_and_trigger();
  cuda::tile_linear<cuda::Wide<cuda::Bf16Weight>, float>(p);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    linear_bf16_bf16_bf16_wide(__grid_constant__ const LinearParams p) {
  dense_kernels::cuda::wait_and_trigger();
  cuda::tile_linear<cuda::Wide<cuda::Bf16Weight>, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    linear_mxfp8_bf16_f32_wide(__grid_constant__ const LinearParams p) {
  dense_kernels::cuda::wait_and_trigger();
  cuda::tile_linear<cuda::Wide<cuda::Mxfp8Weight>, float>(p);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    linear_mxfp8_bf16_bf16_wide(__grid_constant__ const LinearParams p) {
  dense_kernels::cuda::wait_and_trigger();
  cuda::tile_linear<cuda::Wide<cuda::Mxfp8Weight>, cuda::Bf16>(p);
}
