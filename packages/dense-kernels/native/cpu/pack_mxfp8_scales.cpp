// Scale bytes between row-major order and 128 x 4 tiles on the CPU. Bytes only, a few per cent of
// the weights, done once at load: no vector build.
//
// A tile is 512 bytes: (row % 32) * 16 + (row % 128 / 32) * 4 + block % 4. Tiles of one 128-row
// band follow each other along the blocks; bands follow each other along the rows.

#include "dense_kernels/pack_mxfp8_scales.h"

#include "cuda_runtime/abi.h"

namespace {

constexpr int64_t kTileRows = 128;
constexpr int64_t kTileBlocks = 4;

struct Shape {
  int64_t bands;      /* tiles along the rows */
  int64_t band_bytes; /* bytes of the tiles of one band */
};

Shape shape_of(const PackMxfp8ScalesParams& p) {
  const int64_t tiles = (p.blocks + kTileBlocks - 1) / kTileBlocks;
  return {(p.rows + kTileRows - 1) / kTileRows, tiles * kTileRows * kTileBlocks};
}

/* Where scale (row, block) of a band lies in it. */
int64_t offset_in_band(int64_t row, int64_t block) {
  return block / kTileBlocks * kTileRows * kTileBlocks + row % 32 * 16 + row % kTileRows / 32 * 4 +
         block % kTileBlocks;
}

void pack_bands(void* argument, int64_t begin, int64_t end) {
  const PackMxfp8ScalesParams& p = *static_cast<const PackMxfp8ScalesParams*>(argument);
  const uint8_t* from = static_cast<const uint8_t*>(p.from);
  const int64_t band_bytes = shape_of(p).band_bytes;
  const int64_t padded_blocks = band_bytes / kTileRows;
  for (int64_t band = begin; band < end; ++band) {
    uint8_t* to = static_cast<uint8_t*>(p.to) + band * band_bytes;
    for (int64_t row = band * kTileRows; row < (band + 1) * kTileRows; ++row) {
      for (int64_t block = 0; block < padded_blocks; ++block) {
        const bool inside = row < p.rows && block < p.blocks;
        to[offset_in_band(row, block)] = inside ? from[row * p.blocks + block] : 0;
      }
    }
  }
}

void unpack_rows(void* argument, int64_t begin, int64_t end) {
  const PackMxfp8ScalesParams& p = *static_cast<const PackMxfp8ScalesParams*>(argument);
  const uint8_t* from = static_cast<const uint8_t*>(p.from);
  const int64_t band_bytes = shape_of(p).band_bytes;
  for (int64_t row = begin; row < end; ++row) {
    const uint8_t* band = from + row / kTileRows * band_bytes;
    uint8_t* to = static_cast<uint8_t*>(p.to) + row * p.blocks;
    for (int64_t block = 0; block < p.blocks; ++block) to[block] = band[offset_in_band(row, block)];
  }
}

}  // namespace

extern "C" void pack_mxfp8_scales(const PackMxfp8ScalesParams* p, const CpuContext* context) {
  if (p->rows <= 0 || p->blocks <= 0) return;
  context->parallel_for(context, shape_of(*p).bands, 1, pack_bands,
                        const_cast<PackMxfp8ScalesParams*>(p));
}

extern "C" void unpack_mxfp8_scales(const PackMxfp8ScalesParams* p, const CpuContext* context) {
  if (p->rows <= 0 || p->blocks <= 0) return;
  context->parallel_for(context, p->rows, 128, unpack_rows, const_cast<PackMxfp8ScalesParams*>(p));
}
