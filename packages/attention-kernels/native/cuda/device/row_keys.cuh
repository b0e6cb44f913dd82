// Which keys the rows of one token and KV head meet, for attend_rows.cuh: place i of their walk is
// token i % page_tokens of block i / page_tokens, or of that entry of the list of blocks.
#ifndef ATTENTION_KERNELS_CUDA_DEVICE_ROW_KEYS_CUH
#define ATTENTION_KERNELS_CUDA_DEVICE_ROW_KEYS_CUH

#include "dense_kernels/cuda/reduce.cuh"

#include "attend.cuh"

namespace attention_kernels::cuda {

// No slot of a cache: 2^32 of the smallest would be half a terabyte.
constexpr uint32_t kNoSlot = 0xffffffffu;

// Not inlined: the pages of the models are powers of two.
static __device__ __noinline__ int32_t divide(uint32_t a, uint32_t b) { return a / b; }

struct Place {
  int32_t block;    // of the context, any number if the list says so
  int32_t in_page;
};

class RowKeys {
 public:
  // Reads nothing.
  __device__ __forceinline__ RowKeys(const Attend& a, int64_t token, int64_t kv_head) : a_(a) {
    chosen_ = a.blocks == nullptr ? nullptr
                                  : a.blocks + (kv_head * a.tokens + token) * a.topk_blocks;
    const bool is_power = (a.page_tokens & (a.page_tokens - 1)) == 0;
    shift_ = is_power ? __ffs(a.page_tokens) - 1 : -1;
  }

  // Reads the list, which needs no other read.
  __device__ __forceinline__ Place place(int32_t index) const {
    const int32_t entry = shift_ >= 0 ? index >> shift_ : divide(index, a_.page_tokens);
    const int32_t in_page = index - entry * a_.page_tokens;
    if (chosen_ == nullptr) return {entry, in_page};
    return {entry < a_.topk_blocks ? chosen_[entry] : -1, in_page};
  }

  // Before slot().
  __device__ __forceinline__ void open(int32_t position, int32_t sequence) {
    const bool is_known = sequence >= 0 && sequence < a_.sequences;
    last_ = is_known ? position : -1;
    table_ = a_.page_table + static_cast<int64_t>(is_known ? sequence : 0) * a_.max_pages;
  }

  // Which row of each KV head's cache the place is; kNoSlot: there is none, or none that may be
  // seen.
  __device__ __forceinline__ uint32_t slot(const Place& place) const {
    if (place.block < 0 || place.block >= a_.max_pages) return kNoSlot;
    const int64_t first = static_cast<int64_t>(place.block) * a_.page_tokens;
    if (first + place.in_page > last_) return kNoSlot;
    const int32_t page = table_[place.block];
    if (page < 0 || page >= a_.pages) return kNoSlot;
    return static_cast<uint32_t>(page) * a_.page_tokens + place.in_page;
  }

  // The most places that the walk can have, known without a read.
  __device__ __forceinline__ int64_t most_places() const {
    return static_cast<int64_t>(chosen_ == nullptr ? a_.max_pages : a_.topk_blocks) *
           a_.page_tokens;
  }

  // Places up to the last that can have a key. The warp does it together.
  __device__ __forceinline__ int64_t places(int32_t position) const {
    if (chosen_ == nullptr) return min(most_places(), static_cast<int64_t>(position) + 1);
    int32_t entries = 0;
#pragma unroll 1
    for (int32_t i = dense_kernels::cuda::lane_id(); i < a_.topk_blocks && position >= 0;
         i += dense_kernels::cuda::kWarp) {
      if (chosen_[i] >= 0) entries = i + 1;
    }
    entries = __reduce_max_sync(dense_kernels::cuda::kAllLanes, entries);
    return static_cast<int64_t>(entries) * a_.page_tokens;
  }

 private:
  const Attend& a_;
  const int32_t* chosen_;  // blocks of the list; null: all of the context
  const int32_t* table_;   // pages of the sequence's blocks
  int32_t shift_;          // page_tokens is 2^shift_; -1: it is no power of two
  int32_t last_;           // no key behind this position is seen
};

}  // namespace attention_kernels::cuda

#endif
