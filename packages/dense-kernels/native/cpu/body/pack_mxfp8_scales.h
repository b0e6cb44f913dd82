// Scale bytes between row-major order and 128 x 4 tiles, the body that every instruction set
// shares.
//
// A tile is 512 bytes: (row % 32) * 16 + (row % 128 / 32) * 4 + block % 4. Tiles of one 128-row
// band follow each other along the blocks; bands follow each other along the rows. So the 16 bytes
// of a tile that begin at (row % 32) * 16 are four words, one of each of the rows row, row + 32,
// row + 64, row + 96: packing and unpacking transpose words. Bands in parallel.
#ifndef DENSE_KERNELS_CPU_BODY_PACK_MXFP8_SCALES_H
#define DENSE_KERNELS_CPU_BODY_PACK_MXFP8_SCALES_H

#include <stdint.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "cuda_runtime/abi.h"
#include "dense_kernels/pack_mxfp8_scales.h"

namespace {

constexpr int64_t kTileRows = 128;
constexpr int64_t kTileBlocks = 4;
constexpr int64_t kTileBytes = kTileRows * kTileBlocks;
constexpr int64_t kQuarterRows = 32;   // rows between the four words of 16 bytes
constexpr int64_t kPackGrain = 65536;  // bytes a piece

// The four rows of a band whose words share 16 bytes of each tile; null where the band ends before.
template <typename Byte>
struct Quad {
  Byte* row[4];
};

template <typename Byte>
Quad<Byte> quad_of(Byte* band, int64_t first, int64_t rows, int64_t blocks) {
  Quad<Byte> quad;
  for (int q = 0; q < 4; ++q) {
    const int64_t row = first + q * kQuarterRows;
    quad.row[q] = row < rows ? band + row * blocks : nullptr;
  }
  return quad;
}

#if defined(__AVX2__)
constexpr int64_t kTilesAtOnce = 8;

// Eight tiles at a time, of a quad whose rows are all there; returns how many it took.
inline int64_t pack_eights(const Quad<const uint8_t>& from, uint8_t* to, int64_t tiles) {
  int64_t tile = 0;
  for (; tile + kTilesAtOnce <= tiles; tile += kTilesAtOnce) {
    const int64_t at = tile * kTileBlocks;
    const __m256i a = _mm256_loadu_si256((const __m256i*)(from.row[0] + at));
    const __m256i b = _mm256_loadu_si256((const __m256i*)(from.row[1] + at));
    const __m256i c = _mm256_loadu_si256((const __m256i*)(from.row[2] + at));
    const __m256i d = _mm256_loadu_si256((const __m256i*)(from.row[3] + at));
    const __m256i ab_low = _mm256_unpacklo_epi32(a, b);
    const __m256i ab_high = _mm256_unpackhi_epi32(a, b);
    const __m256i cd_low = _mm256_unpacklo_epi32(c, d);
    const __m256i cd_high = _mm256_unpackhi_epi32(c, d);
    const __m256i two[4] = {  // tiles i and i + 4
        _mm256_unpacklo_epi64(ab_low, cd_low), _mm256_unpackhi_epi64(ab_low, cd_low),
        _mm256_unpacklo_epi64(ab_high, cd_high), _mm256_unpackhi_epi64(ab_high, cd_high)};
    for (int i = 0; i < 4; ++i) {
      uint8_t* first = to + (tile + i) * kTileBytes;
      _mm_storeu_si128((__m128i*)first, _mm256_castsi256_si128(two[i]));
      _mm_storeu_si128((__m128i*)(first + 4 * kTileBytes), _mm256_extracti128_si256(two[i], 1));
    }
  }
  return tile;
}

inline int64_t unpack_eights(const uint8_t* from, const Quad<uint8_t>& to, int64_t tiles) {
  int64_t tile = 0;
  for (; tile + kTilesAtOnce <= tiles; tile += kTilesAtOnce) {
    __m256i two[4];  // tiles i and i + 4
    for (int i = 0; i < 4; ++i) {
      const uint8_t* first = from + (tile + i) * kTileBytes;
      const __m128i low = _mm_loadu_si128((const __m128i*)first);
      const __m128i high = _mm_loadu_si128((const __m128i*)(first + 4 * kTileBytes));
      two[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    }
    const __m256i ab_low = _mm256_unpacklo_epi32(two[0], two[1]);
    const __m256i cd_low = _mm256_unpackhi_epi32(two[0], two[1]);
    const __m256i ab_high = _mm256_unpacklo_epi32(two[2], two[3]);
    const __m256i cd_high = _mm256_unpackhi_epi32(two[2], two[3]);
    const int64_t at = tile * kTileBlocks;
    _mm256_storeu_si256((__m256i*)(to.row[0] + at), _mm256_unpacklo_epi64(ab_low, ab_high));
    _mm256_storeu_si256((__m256i*)(to.row[1] + at), _mm256_unpackhi_epi64(ab_low, ab_high));
    _mm256_storeu_si256((__m256i*)(to.row[2] + at), _mm256_unpacklo_epi64(cd_low, cd_high));
    _mm256_storeu_si256((__m256i*)(to.row[3] + at), _mm256_unpackhi_epi64(cd_low, cd_high));
  }
  return tile;
}
#endif

// Tiles of a quad whose rows are all there and whose blocks fill them.
inline void pack_whole_tiles(const Quad<const uint8_t>& from, uint8_t* to, int64_t tiles) {
  int64_t tile = 0;
#if defined(__AVX2__)
  tile = pack_eights(from, to, tiles);
#endif
  for (; tile < tiles; ++tile) {
    for (int q = 0; q < 4; ++q) {
      __builtin_memcpy(to + tile * kTileBytes + q * 4, from.row[q] + tile * kTileBlocks, 4);
    }
  }
}

inline void unpack_whole_tiles(const uint8_t* from, const Quad<uint8_t>& to, int64_t tiles) {
  int64_t tile = 0;
#if defined(__AVX2__)
  tile = unpack_eights(from, to, tiles);
#endif
  for (; tile < tiles; ++tile) {
    for (int q = 0; q < 4; ++q) {
      __builtin_memcpy(to.row[q] + tile * kTileBlocks, from + tile * kTileBytes + q * 4, 4);
    }
  }
}

// Any tiles from `tile` on: words of rows that are not there and bytes behind the blocks are 0.
inline void pack_tiles(const Quad<const uint8_t>& from, uint8_t* to, int64_t tile, int64_t tiles,
                       int64_t blocks) {
  for (; tile < tiles; ++tile) {
    const int64_t left = blocks - tile * kTileBlocks;
    for (int q = 0; q < 4; ++q) {
      uint8_t word[kTileBlocks] = {};
      for (int64_t i = 0; from.row[q] && i < kTileBlocks && i < left; ++i) {
        word[i] = from.row[q][tile * kTileBlocks + i];
      }
      __builtin_memcpy(to + tile * kTileBytes + q * 4, word, 4);
    }
  }
}

inline void unpack_tiles(const uint8_t* from, const Quad<uint8_t>& to, int64_t tile, int64_t tiles,
                         int64_t blocks) {
  for (; tile < tiles; ++tile) {
    const int64_t left = blocks - tile * kTileBlocks;
    for (int q = 0; q < 4; ++q) {
      for (int64_t i = 0; to.row[q] && i < kTileBlocks && i < left; ++i) {
        to.row[q][tile * kTileBlocks + i] = from[tile * kTileBytes + q * 4 + i];
      }
    }
  }
}

inline int64_t tiles_of(const PackMxfp8ScalesParams& p) {
  return (p.blocks + kTileBlocks - 1) / kTileBlocks;
}

inline void pack_bands(void* argument, int64_t begin, int64_t end) {
  const PackMxfp8ScalesParams& p = *static_cast<const PackMxfp8ScalesParams*>(argument);
  const int64_t tiles = tiles_of(p);
  for (int64_t band = begin; band < end; ++band) {
    const int64_t rows = p.rows - band * kTileRows;
    const uint8_t* from = static_cast<const uint8_t*>(p.from) + band * kTileRows * p.blocks;
    uint8_t* to = static_cast<uint8_t*>(p.to) + band * tiles * kTileBytes;
    for (int64_t first = 0; first < kQuarterRows; ++first, to += 16) {
      const Quad<const uint8_t> quad = quad_of(from, first, rows, p.blocks);
      const int64_t whole = quad.row[3] ? p.blocks / kTileBlocks : 0;
      pack_whole_tiles(quad, to, whole);
      pack_tiles(quad, to, whole, tiles, p.blocks);
    }
  }
}

inline void unpack_bands(void* argument, int64_t begin, int64_t end) {
  const PackMxfp8ScalesParams& p = *static_cast<const PackMxfp8ScalesParams*>(argument);
  const int64_t tiles = tiles_of(p);
  for (int64_t band = begin; band < end; ++band) {
    const int64_t rows = p.rows - band * kTileRows;
    const uint8_t* from = static_cast<const uint8_t*>(p.from) + band * tiles * kTileBytes;
    uint8_t* to = static_cast<uint8_t*>(p.to) + band * kTileRows * p.blocks;
    for (int64_t first = 0; first < kQuarterRows; ++first, from += 16) {
      const Quad<uint8_t> quad = quad_of(to, first, rows, p.blocks);
      const int64_t whole = quad.row[3] ? p.blocks / kTileBlocks : 0;
      unpack_whole_tiles(from, quad, whole);
      unpack_tiles(from, quad, whole, tiles, p.blocks);
    }
  }
}

inline void move_bands(const PackMxfp8ScalesParams* p, const CpuContext* context,
                       CpuLoopBody body) {
  if (p->rows <= 0 || p->blocks <= 0) return;
  const int64_t bands = (p->rows + kTileRows - 1) / kTileRows;
  const int64_t grain = kPackGrain / (tiles_of(*p) * kTileBytes) + 1;
  context->parallel_for(context, bands, grain, body, const_cast<PackMxfp8ScalesParams*>(p));
}

inline void pack(const PackMxfp8ScalesParams* p, const CpuContext* context) {
  move_bands(p, context, pack_bands);
}

inline void unpack(const PackMxfp8ScalesParams* p, const CpuContext* context) {
  move_bands(p, context, unpack_bands);
}

}  // namespace

#endif
