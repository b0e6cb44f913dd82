// Experts with many rows each (prefill) on Hopper: the tiles of expert_tiled.cuh by products of
// warpgroups, with the same bits. One warpgroup copies, two multiply (copying.cuh,
// multiplying.cuh); a unit's last products and its results overlap the next one's copies.
//
// Activations come in the order of packed_columns.cuh, from `packed`. The plan sees to it that
// weights begin at a multiple of 16 bytes and columns fill whole stages. Where Hopper's own machine
// code is missing (docs/building.md of cuda-runtime), the other tiles stand in.
#ifndef MOE_KERNELS_CUDA_DEVICE_WARPGROUPS_EXPERT_WGMMA_CUH
#define MOE_KERNELS_CUDA_DEVICE_WARPGROUPS_EXPERT_WGMMA_CUH

#include "copying.cuh"
#include "multiplying.cuh"

namespace moe_kernels::cuda {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// Among the warps that multiply.
__device__ __forceinline__ void sync_multiplying() {
  asm volatile("bar.sync 1, %0;" : : "n"(kMultiplying) : "memory");
}

// Results of one unit by kTokens rows, to shared memory.
template <int kTokens, typename W, typename Problem>
__device__ __forceinline__ void multiply_unit(const Problem& problem, const Unit& unit, int thread,
                                              WgmmaPlace<W>& at, WgmmaShared<W, Problem>& shared) {
  float totals[kTokens / 2] = {};
  sum_unit<kTokens>(totals, LaneScaleRows(problem, unit, thread),
                    problem.columns() / kStageColumns, thread, at, shared);
  sync_multiplying();  // the results before are out
  const int lane = thread % dense_kernels::cuda::kWarp;
  const int first = thread / dense_kernels::cuda::kWarp * Problem::kTileOutputs;
#pragma unroll
  for (int i = 0; i < kTokens / 4; ++i) {
    const int token = i / 2 * 8 + lane % 4 * 2 + i % 2;
    const int at_sum = i / 2 * 4 + i % 2;
    problem.finish(lane / 4, totals[at_sum], totals[at_sum + 2],
                   [&](int output, float value) {
                     shared.results.value[token * TiledResults<Problem>::kPitch + first + output] =
                         dense_kernels::cuda::round_to<dense_kernels::cuda::Bf16>(value);
                   });
  }
  sync_multiplying();
}

template <typename W, typename Problem>
__device__ __forceinline__ void multiply_units(const Problem& problem, const ExpertTiles& tiles,
                                               int64_t units, int32_t blocks,
                                               WgmmaShared<W, Problem>& shared) {
  const int thread = threadIdx.x - kWarpgroup;
  WgmmaPlace<W> at;
  for (int64_t number = blockIdx.x; number < units; number += gridDim.x) {
    const Unit unit = find_unit(tiles, number, blocks);
    if (unit.tile.count <= 32) {
      multiply_unit<32>(problem, unit, thread, at, shared);
    } else if (unit.tile.count <= 64) {
      multiply_unit<64>(problem, unit, thread, at, shared);
    } else if (unit.tile.count <= 96) {
      multiply_unit<96>(problem, unit, thread, at, shared);
    } else {
      multiply_unit<kTiledTokens>(problem, unit, thread, at, shared);
    }
    send_results(problem, unit, shared.results, thread, kMultiplying);
  }
}

// Registers that threads which copy can spare, to those that multiply.
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 56;");
}
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 224;");
}

template <typename W, typename Problem>
__device__ __forceinline__ void run_warpgroups(const Problem& problem, char* memory) {
  const uint32_t skipped =
      -dense_kernels::cuda::shared_address(memory) & (dense_kernels::cuda::kWgmmaAlign - 1);
  char* aligned = memory + skipped;
  auto& shared = *reinterpret_cast<WgmmaShared<W, Problem>*>(aligned);
  int32_t* before = reinterpret_cast<int32_t*>(&shared + 1);
  if (threadIdx.x < kWgmmaStages<W>) {
    dense_kernels::cuda::make_barrier(shared.full_at(threadIdx.x), kWarpgroup);
    dense_kernels::cuda::make_barrier(shared.empty_at(threadIdx.x), kMultiplying);
  }
  dense_kernels::cuda::wait_and_trigger();
  const ExpertTiles tiles = {static_cast<const int32_t*>(problem.p.offsets), before,
                             problem.p.experts, problem.p.slots, kTiledTokens};
  const int32_t blocks = (row_tiles(problem) + kTiledRowTiles - 1) / kTiledRowTiles;
  const int64_t units = int64_t{list_tiles(tiles)} * blocks;  // behind a barrier
  if (threadIdx.x < kWarpgroup) {
    give_registers();
    copy_units(problem, tiles, units, blocks, shared);
  } else {
    take_registers();
    multiply_units(problem, tiles, units, blocks, shared);
  }
}

#endif

// Dynamic shared memory: WgmmaShared from a multiple of 1024 bytes on, then `before` [experts + 1].
template <typename W, typename Problem>
__device__ __forceinline__ void run_wgmma(const Problem& problem, uint4* memory) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  run_warpgroups<W>(problem, reinterpret_cast<char*>(memory));
#else
  run_tiled<W>(problem, memory);
#endif
}

}  // namespace moe_kernels::cuda

#endif
