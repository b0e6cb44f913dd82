// Gate and up projections of the routed experts on CUDA. Decode: device/expert_stream.cuh. Prefill,
// the `_tiled` entries: device/expert_tiled.cuh. Types with fp32 in them: device/expert_simt.cuh.
#include "device/expert_simt.cuh"
#include "device/expert_stream.cuh"
#include "device/expert_tiled.cuh"
#include "moe_kernels/experts_gate_up.h"

using dense_kernels::cuda::Bf16;
using namespace moe_kernels::cuda;

// The plan gives so much shared memory: src/experts/experts-launch.plan.ts.
static_assert(sizeof(StreamShared<Mxfp8Weights, false>) == 52240);
static_assert(sizeof(StreamShared<Bf16Weights, false>) == 49696);
static_assert(sizeof(StreamShared<Mxfp8Weights, true>) == 64016);
static_assert(sizeof(StreamShared<Bf16Weights, true>) == 73760);
static_assert(sizeof(TiledShared<Mxfp8Weights, GateUp>) == 100352);
static_assert(sizeof(TiledShared<Bf16Weights, GateUp>) == 133120);

#define EXPERTS_ENTRY(name, blocks)                         \
  extern "C" __global__ void __launch_bounds__(256, blocks) \
      name(__grid_constant__ const ExpertsGateUpParams p)

// ---- entries: dynamic shared memory as the functions say ---------------------------------------
EXPERTS_ENTRY(experts_gate_up_mxfp8_bf16, 3) {
  extern __shared__ uint4 memory[];
  run_stream<Mxfp8Weights, false>(GateUp{p}, memory);
}

EXPERTS_ENTRY(experts_gate_up_mxfp8_bf16_shared, 3) {
  extern __shared__ uint4 memory[];
  run_stream<Mxfp8Weights, true>(GateUp{p}, memory);
}

EXPERTS_ENTRY(experts_gate_up_bf16_bf16, 3) {
  extern __shared__ uint4 memory[];
  run_stream<Bf16Weights, false>(GateUp{p}, memory);
}

EXPERTS_ENTRY(experts_gate_up_bf16_bf16_shared, 3) {
  extern __shared__ uint4 memory[];
  run_stream<Bf16Weights, true>(GateUp{p}, memory);
}

EXPERTS_ENTRY(experts_gate_up_mxfp8_bf16_tiled, 1) {
  extern __shared__ uint4 memory[];
  run_tiled<Mxfp8Weights>(GateUp{p}, memory);
}

EXPERTS_ENTRY(experts_gate_up_bf16_bf16_tiled, 1) {
  extern __shared__ uint4 memory[];
  run_tiled<Bf16Weights>(GateUp{p}, memory);
}

EXPERTS_ENTRY(experts_gate_up_mxfp8_f32, 2) {
  extern __shared__ int32_t before[];
  run_simt<E4m3, float>(GateUp{p}, before);
}

EXPERTS_ENTRY(experts_gate_up_bf16_f32, 2) {
  extern __shared__ int32_t before[];
  run_simt<Bf16, float>(GateUp{p}, before);
}

EXPERTS_ENTRY(experts_gate_up_f32_bf16, 2) {
  extern __shared__ int32_t before[];
  run_simt<float, Bf16>(GateUp{p}, before);
}

EXPERTS_ENTRY(experts_gate_up_f32_f32, 2) {
  extern __shared__ int32_t before[];
  run_simt<float, float>(GateUp{p}, before);
}
