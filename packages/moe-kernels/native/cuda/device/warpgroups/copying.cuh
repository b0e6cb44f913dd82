// The warpgroup that fills the ring of ring.cuh, stage by stage, unit by unit.
#ifndef MOE_KERNELS_CUDA_DEVICE_WARPGROUPS_COPYING_CUH
#define MOE_KERNELS_CUDA_DEVICE_WARPGROUPS_COPYING_CUH

#include "ring.cuh"

namespace moe_kernels::cuda {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// What a thread copies of every stage of a unit: one chunk of some rows.
template <typename W>
struct WgmmaCopies {
  static constexpr int kRowsAtOnce = kWarpgroup / kTokenChunks;  // of activations
  static constexpr int kRows = kTiledTokens / kRowsAtOnce;
  static constexpr int kWeightsAtOnce = kWarpgroup / kWeightChunks<W>;
  static constexpr int kWeights = kTiledRows / kWeightsAtOnce;

  const uint8_t* weight[kWeights];
  const uint8_t* row[kRows];
  int32_t rows;  // that the tile has, `kRowsAtOnce` each; the others' sums are nobody's

  // Rows behind the tile's last are the last again.
  template <typename Problem>
  __device__ __forceinline__ WgmmaCopies(const Problem& problem, const Unit& unit) {
    const int64_t columns = problem.columns();
    const uint8_t* weights = static_cast<const uint8_t*>(problem.weights());
    const int64_t first = unit.tile.expert * problem.weight_rows();
#pragma unroll
    for (int i = 0; i < kWeights; ++i) {
      const int r = threadIdx.x / kWeightChunks<W> + i * kWeightsAtOnce;
      const int32_t tile = unit.block * kTiledRowTiles + r / kRowTile;
      weight[i] = weights + (first + problem.weight_row(tile, r % kRowTile)) *
                                (columns * W::kElementBytes) + threadIdx.x % kWeightChunks<W> * 16;
    }
    const uint8_t* activations = static_cast<const uint8_t*>(problem.p.packed);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const int r = min(static_cast<int>(threadIdx.x) / kTokenChunks + i * kRowsAtOnce,
                        unit.tile.count - 1);
      row[i] = activations + problem.activation_row(unit.tile.first + r) * (columns * 2) +
               threadIdx.x % kTokenChunks * 16;
    }
    rows = (unit.tile.count + kRowsAtOnce - 1) / kRowsAtOnce;
  }

  __device__ __forceinline__ void ask_for(int32_t number, TiledStage<W>& stage) const {
    constexpr int kWeightBytes = kStageColumns * W::kElementBytes;
    uint4* weights = &stage.weight[weight_chunk<W>(threadIdx.x / kWeightChunks<W>,
                                                   threadIdx.x % kWeightChunks<W>)];
#pragma unroll
    for (int i = 0; i < kWeights; ++i) {
      dense_kernels::cuda::copy16_async(weights + i * kWeightsAtOnce * kWeightChunks<W>,
                                        weight[i] + number * kWeightBytes);
    }
    char* tokens = reinterpret_cast<char*>(stage.token) +
                   dense_kernels::cuda::wgmma_chunk(threadIdx.x / kTokenChunks,
                                                    threadIdx.x % kTokenChunks);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (i < rows) {
        dense_kernels::cuda::copy16_async(
            tokens + i * kRowsAtOnce * dense_kernels::cuda::kWgmmaRowBytes,
            row[i] + number * (kStageColumns * 2));
      }
    }
  }
};

template <typename W, typename Problem>
__device__ __forceinline__ void copy_units(const Problem& problem, const ExpertTiles& tiles,
                                           int64_t units, int32_t blocks,
                                           WgmmaShared<W, Problem>& shared) {
  static_assert(WgmmaCopies<W>::kRowsAtOnce % 8 == 0 && WgmmaCopies<W>::kWeightsAtOnce % 8 == 0,
                "a thread's chunks are permuted alike in all of its rows");
  const int32_t stages = problem.columns() / kStageColumns;
  WgmmaPlace<W> at;
  for (int64_t number = blockIdx.x; number < units; number += gridDim.x) {
    const WgmmaCopies<W> copies(problem, find_unit(tiles, number, blocks));
#pragma unroll 1
    for (int32_t s = 0; s < stages; ++s) {
      dense_kernels::cuda::wait_for_phase(shared.empty_at(at.stage), at.parity ^ 1);
      copies.ask_for(s, shared.stage[at.stage]);
      dense_kernels::cuda::arrive_after_copies(shared.full_at(at.stage));
      at.advance();
    }
  }
}

#endif

}  // namespace moe_kernels::cuda

#endif
