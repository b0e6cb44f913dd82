// Both products of the experts with many rows each, on Hopper: device/expert_wgmma.cuh.
#include "device/expert_wgmma.cuh"
#include "moe_kernels/experts_down.h"
#include "moe_kernels/experts_gate_up.h"

using namespace moe_kernels::cuda;

// The plan gives so much shared memory: src/experts.plan.ts.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
static_assert(sizeof(WgmmaShared<Mxfp8Weights, Down>) == 100352);
static_assert(sizeof(WgmmaShared<Bf16Weights, Down>) == 133120);
#endif

// ---- entries: dynamic shared memory as run_wgmma says ------------------------------------------
extern "C" __global__ void __launch_bounds__(256, 1)
    experts_gate_up_mxfp8_bf16_wgmma(__grid_constant__ const ExpertsGateUpParams p) {
  extern __shared__ __align__(1024) char memory[];
  run_wgmma<Mxfp8Weights>(GateUp{p}, memory);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    experts_gate_up_bf16_bf16_wgmma(__grid_constant__ const ExpertsGateUpParams p) {
  extern __shared__ __align__(1024) char memory[];
  run_wgmma<Bf16Weights>(GateUp{p}, memory);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    experts_down_mxfp8_bf16_wgmma(__grid_constant__ const ExpertsDownParams p) {
  extern __shared__ __align__(1024) char memory[];
  run_wgmma<Mxfp8Weights>(Down{p}, memory);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    experts_down_bf16_bf16_wgmma(__grid_constant__ const ExpertsDownParams p) {
  extern __shared__ __align__(1024) char memory[];
  run_wgmma<Bf16Weights>(Down{p}, memory);
}
