// Down projection of the routed experts on CUDA. Decode: device/expert_stream.cuh. Prefill, the
// `_tiled` entries: device/expert_tiled.cuh. Types with fp32 in them: device/expert_simt.cuh.
#include "device/expert_simt.cuh"
#include "device/expert_stream.cuh"
#include "device/expert_tiled.cuh"
#include "moe_kernels/experts_down.h"

using dense_kernels::cuda::Bf16;
using namespace moe_kernels::cuda;

// The plan gives so much shared memory: src/experts/experts-launch.plan.ts.
static_assert(sizeof(StreamShared<Mxfp8Weights, false>) == 52240);
static_assert(sizeof(StreamShared<Bf16Weights, false>) == 49696);
static_assert(sizeof(StreamShared<Mxfp8Weights, true>) == 64016);
static_assert(sizeof(StreamShared<Bf16Weights, true>) == 73760);
static_assert(sizeof(TiledShared<Mxfp8Weights, Down>) == 100352);
static_assert(sizeof(TiledShared<Bf16Weights, Down>) == 133120);

#define EXPERTS_ENTRY(name, blocks)                         \
  extern "C" __global__ void __launch_bounds__(256, blocks) \
      name(__grid_constant__ const ExpertsDownParams p)

// ---- entries: dynamic shared memory as the functions say ---------------------------------------
EXPERTS_ENTRY(experts_down_mxfp8_bf16, 3) {
  extern __shared__ uint4 memory[];
  run_stream<Mxfp8Weights, false>(Down{p}, memory);
}

EXPERTS_ENTRY(experts_down_mxfp8_bf16_shared, 3) {
  extern __shared__ uint4 memory[];
  run_stream<Mxfp8Weights, true>(Down{p}, memory);
}

EXPERTS_ENTRY(experts_down_bf16_bf16, 3) {
  extern __shared__ uint4 memory[];
  run_stream<Bf16Weights, false>(Down{p}, memory);
}

EXPERTS_ENTRY(experts_down_bf16_bf16_shared, 3) {
  extern __shared__ uint4 memory[];
  run_stream<Bf16Weights, true>(Down{p}, memory);
}

EXPERTS_ENTRY(experts_down_mxfp8_bf16_tiled, 1) {
  extern __shared__ uint4 memory[];
  run_tiled<Mxfp8Weights>(Down{p}, memory);
}

EXPERTS_ENTRY(experts_down_bf16_bf16_tiled, 1) {
  extern __shared__ uint4 memory[];
  run_tiled<Bf16Weights>(Down{p}, memory);
}

EXPERTS_ENTRY(experts_down_mxfp8_f32, 2) {
  extern __shared__ int32_t before[];
  run_simt<E4m3, float>(Down{p}, before);
}

EXPERTS_ENTRY(experts_down_bf16_f32, 2) {
  extern __shared__ int32_t before[];
  run_simt<Bf16, float>(Down{p}, before);
}

EXPERTS_ENTRY(experts_down_f32_bf16, 2) {
  extern __shared__ int32_t before[];
  run_simt<float, Bf16>(Down{p}, before);
}

EXPERTS_ENTRY(experts_down_f32_f32, 2) {
  extern __shared__ int32_t before[];
  run_simt<float, float>(Down{p}, before);
}
