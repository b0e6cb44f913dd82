// Scale bytes between row-major order and 128 x 4 tiles on CUDA: a block a tile, a word of four
// scales a thread. Rows row, row + 32, row + 64, row + 96 of a tile share 16 bytes, so thread t has
// row t / 4 + 32 (t % 4) and word t of the tile. Runs when weights are loaded, not in a step.
#include "dense_kernels/cuda/vector.cuh"
#include "dense_kernels/pack_mxfp8_scales.h"

namespace dense_kernels::cuda {
namespace {

constexpr int kTileRows = 128;
constexpr int kTileBlocks = 4;
constexpr int kTileBytes = kTileRows * kTileBlocks;

// Where this thread's word lies on both sides.
struct Word {
  int64_t in_rows;   // byte offset in [rows, blocks]
  int64_t in_tiles;  // byte offset in the tiles
  int exists;        // scales that are there: 0 to 4
};

__device__ __forceinline__ Word word_of(const PackMxfp8ScalesParams& p) {
  const int tiles = (p.blocks + kTileBlocks - 1) / kTileBlocks;  // of a band of 128 rows
  const int band = blockIdx.x / tiles;
  const int first_block = blockIdx.x % tiles * kTileBlocks;
  const int64_t row = int64_t{band} * kTileRows + threadIdx.x / 4 + 32 * (threadIdx.x % 4);
  return {row * p.blocks + first_block, int64_t{blockIdx.x} * kTileBytes + threadIdx.x * 4,
          row < p.rows ? min(kTileBlocks, p.blocks - first_block) : 0};
}

}  // namespace
}  // namespace dense_kernels::cuda

extern "C" __global__ void __launch_bounds__(128)
    pack_mxfp8_scales(__grid_constant__ const PackMxfp8ScalesParams p) {
  using namespace dense_kernels::cuda;
  const Word word = word_of(p);
  const uint8_t* from = static_cast<const uint8_t*>(p.from) + word.in_rows;
  uint8_t* to = static_cast<uint8_t*>(p.to) + word.in_tiles;
  uint32_t scales = 0;
  if (word.exists == kTileBlocks) {
    scales = load_bytes4(from, is_aligned(from, 4));
  } else {
    for (int i = 0; i < word.exists; ++i) scales |= uint32_t{from[i]} << (8 * i);
  }
  store_bytes4(to, scales, is_aligned(to, 4));
}

extern "C" __global__ void __launch_bounds__(128)
    unpack_mxfp8_scales(__grid_constant__ const PackMxfp8ScalesParams p) {
  using namespace dense_kernels::cuda;
  const Word word = word_of(p);
  const uint8_t* from = static_cast<const uint8_t*>(p.from) + word.in_tiles;
  uint8_t* to = static_cast<uint8_t*>(p.to) + word.in_rows;
  if (word.exists == kTileBlocks) {
    store_bytes4(to, load_bytes4(from, is_aligned(from, 4)), is_aligned(to, 4));
  } else {
    for (int i = 0; i < word.exists; ++i) to[i] = from[i];
  }
}
