// Both projections of the routed experts for many rows on Hopper:
// device/warpgroups/expert_wgmma.cuh.
#include "device/warpgroups/expert_wgmma.cuh"

using namespace moe_kernels::cuda;

// The plan gives so much shared memory: src/experts/experts-launch.plan.ts.
static_assert(sizeof(WgmmaShared<Mxfp8Weights, GateUp>) == 165'984);
static_assert(sizeof(WgmmaShared<Bf16Weights, GateUp>) == 182'352);
static_assert(sizeof(WgmmaShared<Mxfp8Weights, Down>) == 182'368);
static_assert(sizeof(WgmmaShared<Bf16Weights, Down>) == 198'736);

// ---- entries: dynamic shared memory as run_wgmma says -------------------------------------------
extern "C" __global__ void __launch_bounds__(384, 1)
    experts_gate_up_mxfp8_bf16_wgmma(__grid_constant__ const ExpertsGateUpParams p) {
  extern __shared__ uint4 memory[];
  run_wgmma<Mxfp8Weights>(GateUp{p}, memory);
}

extern "C" __global__ void __launch_bounds__(384, 1)
    experts_gate_up_bf16_bf16_wgmma(__grid_constant__ const ExpertsGateUpParams p) {
  extern __shared__ uint4 memory[];
  run_wgmma<Bf16Weights>(GateUp{p}, memory);
}

extern "C" __global__ void __launch_bounds__(384, 1)
    experts_down_mxfp8_bf16_wgmma(__grid_constant__ const ExpertsDownParams p) {
  extern __shared__ uint4 memory[];
  run_wgmma<Mxfp8Weights>(Down{p}, memory);
}

extern "C" __global__ void __launch_bounds__(384, 1)
    experts_down_bf16_bf16_wgmma(__grid_constant__ const ExpertsDownParams p) {
  extern __shared__ uint4 memory[];
  run_wgmma<Bf16Weights>(Down{p}, memory);
}
