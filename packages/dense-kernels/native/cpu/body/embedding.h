// Row gather, the body that every instruction set shares. Tokens in parallel; a copy when table and
// output have one dtype, else one rounding an element. Bound by memory, and rows lie anywhere in a
// table of gigabytes: while a row is moved, the next one is prefetched.
#ifndef DENSE_KERNELS_CPU_BODY_EMBEDDING_H
#define DENSE_KERNELS_CPU_BODY_EMBEDDING_H

#include "cuda_runtime/abi.h"
#include "dense_kernels/embedding.h"
#include "dense_kernels/cpu/lanes.h"

namespace {

constexpr int64_t kEmbeddingGrain = 32768;  // elements a piece
constexpr int64_t kPageBytes = 4096;        // the hardware's own prefetch ends at a page
constexpr int64_t kLineBytes = 64;
constexpr int64_t kPrefetchedBytes = 8 * kLineBytes;  // of each page; it goes on by itself

// Null for an id outside the table.
template <typename From>
LANES_INLINE const From* row_of(const EmbeddingParams* p, int64_t token) {
  const int64_t id = static_cast<const int32_t*>(p->ids)[token];
  const int64_t row = id - p->first_id;
  if (row < 0 || row >= p->rows) return nullptr;
  return static_cast<const From*>(p->table) + row * p->table_stride;
}

// The beginning of each page of a row.
template <typename From>
LANES_INLINE void prefetch_row(const From* row, int64_t hidden) {
  if (row == nullptr) return;
  const char* start = reinterpret_cast<const char*>(row);
  const int64_t bytes = sizeof(From) * hidden;
  const int64_t to_next_page = kPageBytes - reinterpret_cast<uintptr_t>(start) % kPageBytes;
  for (int64_t at = 0, page = to_next_page; at < bytes; at = page, page += kPageBytes) {
    const int64_t last = page < bytes ? page : bytes;
    const int64_t end = at + kPrefetchedBytes < last ? at + kPrefetchedBytes : last;
    for (int64_t line = at; line < end; line += kLineBytes) __builtin_prefetch(start + line);
  }
}

template <typename From, typename To>
LANES_INLINE void convert_row(const From* from, To* to, int hidden) {
  int i = 0;
  for (; i + kLanes <= hidden; i += kLanes) store(to + i, load(from + i));
  if (i < hidden) store_some(to + i, load_some(from + i, hidden - i), hidden - i);
}

template <typename T>
LANES_INLINE void convert_row(const T* from, T* to, int hidden) {
  __builtin_memcpy(to, from, sizeof(T) * static_cast<uint64_t>(hidden));
}

template <typename From, typename To>
void gather_rows(void* argument, int64_t begin, int64_t end) {
  const EmbeddingParams* p = static_cast<const EmbeddingParams*>(argument);
  const From* row = row_of<From>(p, begin);
  for (int64_t token = begin; token < end; ++token) {
    const From* next = token + 1 < end ? row_of<From>(p, token + 1) : nullptr;
    prefetch_row(next, p->hidden);
    To* y = static_cast<To*>(p->y) + token * p->hidden;
    if (row == nullptr) {
      __builtin_memset(y, 0, sizeof(To) * static_cast<uint64_t>(p->hidden));
    } else {
      convert_row(row, y, p->hidden);
    }
    row = next;
  }
}

template <typename From, typename To>
void embedding(const EmbeddingParams* p, const CpuContext* context) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  const int64_t grain = kEmbeddingGrain / (p->hidden + 1) + 1;
  context->parallel_for(context, p->tokens, grain, gather_rows<From, To>,
                        const_cast<EmbeddingParams*>(p));
}

}  // namespace

#endif
