// What dense and sparse attention share on the device: one view of their parameters, and the walk
// over the keys of a token. The two agree bit for bit when every block is chosen, since they then
// walk alike.
#ifndef ATTENTION_KERNELS_CUDA_DEVICE_ATTEND_CUH
#define ATTENTION_KERNELS_CUDA_DEVICE_ATTEND_CUH

#include "blocks.cuh"

namespace attention_kernels::cuda {

struct Attend {
  const void* q;               // [tokens, heads, head_dim]
  const void* k_cache;         // [pages, page_tokens, kv_heads, head_dim]
  const void* v_cache;         // as k_cache
  const int32_t* blocks;       // [kv_heads, tokens, topk_blocks]; null: all blocks of the context
  const int32_t* page_table;   // [sequences, max_pages]
  const int32_t* positions;    // [tokens]
  const int32_t* sequence_ids; // [tokens]
  void* out;                   // [tokens, heads, head_dim]
  float* partials;             // [tokens, heads, pieces, head_dim + 2]; null: not split
  int32_t tokens, heads, kv_heads, head_dim, topk_blocks, pages, page_tokens, sequences, max_pages;
  int32_t pieces, piece_keys;
  float scale;
};

// Parameters of either operation; `blocks` is null for dense attention.
template <typename Params>
__device__ __forceinline__ Attend attend_of(const Params& p, const int32_t* blocks,
                                            int32_t topk_blocks) {
  return {p.q,         p.k_cache,    p.v_cache,     blocks,      p.page_table, p.positions,
          p.sequence_ids, p.out,     p.partials,    p.tokens,    p.heads,      p.kv_heads,
          p.head_dim,  topk_blocks,  p.pages,       p.page_tokens, p.sequences, p.max_pages,
          p.pieces,    p.piece_keys, p.scale};
}

constexpr int32_t kNoPosition = INT32_MAX;

// A key of the walk.
struct Key {
  int64_t offset;    // of its row in the caches, in elements
  int32_t position;  // kNoPosition: there is no key here, or none that may be seen
};

// The keys that a token, or a run of tokens of one sequence, meets, in order. Place w of the walk
// is token w % page_tokens of block w / page_tokens, or of that entry of the list of blocks.
class Walk {
 public:
  // `token` is of the sequence and, for a list, the only one; no key behind `last` is seen.
  __device__ __forceinline__ Walk(const Attend& a, int64_t token, int64_t kv_head, int32_t last)
      : a_(a), kv_head_(kv_head), last_(last) {
    const int64_t sequence = a.sequence_ids[token];
    const bool is_known = sequence >= 0 && sequence < a.sequences;
    context_ = is_known ? candidate_blocks(last, a.page_tokens, a.max_pages) : 0;
    table_ = a.page_table + (is_known ? sequence : 0) * a.max_pages;
    chosen_ = a.blocks == nullptr
                  ? nullptr
                  : a.blocks + (kv_head * a.tokens + token) * a.topk_blocks;
    const bool is_power = (a.page_tokens & (a.page_tokens - 1)) == 0;
    shift_ = is_power ? __ffs(a.page_tokens) - 1 : -1;
    const int64_t entries = chosen_ == nullptr ? context_ : listed_blocks();
    const int64_t visible = chosen_ == nullptr ? static_cast<int64_t>(last) + 1 : INT32_MAX;
    places_ = static_cast<int32_t>(min(entries * a.page_tokens, visible));
  }

  // How many places there are.
  __device__ __forceinline__ int32_t places() const { return places_; }

  __device__ __forceinline__ Key key(int32_t place) const {
    constexpr Key none = {0, kNoPosition};
    if (place >= places_) return none;
    const int32_t entry = shift_ >= 0 ? place >> shift_ : place / a_.page_tokens;
    const int32_t in_page = place - entry * a_.page_tokens;
    const int32_t block = chosen_ == nullptr ? entry : chosen_[entry];
    if (block < 0 || block >= context_) return none;
    const int64_t position = static_cast<int64_t>(block) * a_.page_tokens + in_page;
    const int32_t page = table_[block];
    if (position > last_ || page < 0 || page >= a_.pages) return none;
    const int64_t slot = static_cast<int64_t>(page) * a_.page_tokens + in_page;
    return {(slot * a_.kv_heads + kv_head_) * a_.head_dim, static_cast<int32_t>(position)};
  }

 private:
  // Entries of the list up to the last that names a block of the context. The warp does it
  // together.
  __device__ __forceinline__ int32_t listed_blocks() const {
    const int32_t lane = threadIdx.x % 32;
    int32_t entries = 0;
    for (int32_t i = lane; i < a_.topk_blocks; i += 32) {
      if (chosen_[i] >= 0 && chosen_[i] < context_) entries = i + 1;
    }
    return __reduce_max_sync(0xffffffffu, entries);
  }

  const Attend& a_;
  const int32_t* table_;   // pages of the sequence's blocks
  const int32_t* chosen_;  // blocks of the list
  int64_t kv_head_;
  int32_t last_, context_, places_, shift_;
};

}  // namespace attention_kernels::cuda

#endif
