// The maps of permute for few pairs: every thread counts for itself the pairs before its own, so
// there is one barrier, no scan and no counter, and the order follows from the pairs alone.
#ifndef MOE_KERNELS_CUDA_DEVICE_FEW_PAIRS_CUH
#define MOE_KERNELS_CUDA_DEVICE_FEW_PAIRS_CUH

#include <stdint.h>

namespace moe_kernels::cuda {

constexpr int kFewPairs = 256;
constexpr int kKeyPad = 4;  // keys are read four at a time

// Where the maps are; `experts` are local ones.
struct PairMaps {
  int32_t* offsets;
  int32_t* rows;
  int32_t* slots;
  int32_t pairs;
  int32_t expert_offset;
  int32_t experts;
};

// Keys in the order of the rows: expert, then pair. Those without a local expert come last.
struct PairKeys {
  alignas(16) int32_t of_pair[kFewPairs + kKeyPad];
};

// The comparison with the offset keeps any id from wrapping into range.
__device__ __forceinline__ void put_key(const PairMaps& maps, PairKeys& keys, int32_t pair,
                                        int32_t id) {
  const uint32_t expert = static_cast<uint32_t>(id) - static_cast<uint32_t>(maps.expert_offset);
  const bool is_local =
      id >= maps.expert_offset && expert < static_cast<uint32_t>(maps.experts);
  const int32_t bin = is_local ? static_cast<int32_t>(expert) : maps.experts;
  keys.of_pair[pair] = bin * kFewPairs + pair;
}

// Behind the last key: larger than all, so never counted. By one warp or more.
__device__ __forceinline__ void pad_keys(const PairMaps& maps, PairKeys& keys) {
  if (threadIdx.x < kKeyPad) keys.of_pair[maps.pairs + threadIdx.x] = 0x7fffffff;
}

// Writes all maps, or counts for nothing in a rehearsal. A barrier after the keys is the caller's.
__device__ __forceinline__ void place_pairs(const PairMaps& maps, const PairKeys& keys,
                                            bool is_real = true) {
  const int4* fours = reinterpret_cast<const int4*>(keys.of_pair);
  const int32_t items = max(maps.pairs, maps.experts + 1);
#pragma unroll 1
  for (int32_t i = threadIdx.x; i < items; i += blockDim.x) {
    // Item i is pair i, and the first row of expert i.
    const int32_t key = i < maps.pairs ? keys.of_pair[i] : 0;
    const int32_t expert_key = i * kFewPairs;
    int32_t row = 0;
    int32_t first = 0;
#pragma unroll 2
    for (int32_t j = 0; j * 4 < maps.pairs; ++j) {
      const int4 other = fours[j];
      row += (other.x < key) + (other.y < key) + (other.z < key) + (other.w < key);
      first += (other.x < expert_key) + (other.y < expert_key) + (other.z < expert_key) +
               (other.w < expert_key);
    }
    if (i <= maps.experts && is_real) maps.offsets[i] = first;
    if (i >= maps.pairs || !is_real) continue;
    const bool is_local = key < maps.experts * kFewPairs;
    maps.slots[i] = is_local ? row : -1;
    maps.rows[row] = is_local ? i : -1;  // rows of others are behind the last
  }
}

}  // namespace moe_kernels::cuda

#endif
