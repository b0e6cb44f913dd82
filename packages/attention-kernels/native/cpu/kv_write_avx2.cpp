// Copies the rows of tokens into their slots, AVX2.
//
// A slot is rarely in the cache: the lines of the next token's are fetched while this token's are
// written, and a row is copied 128 bytes at a time without a call. Streaming stores are not used:
// attention reads the new keys next (docs/kv-write.md).
#include <immintrin.h>
#include <string.h>

#include "kv_rows.h"

namespace attention_kernels {
namespace {

constexpr int64_t kLineBytes = 64;

struct Row {
  char* cache;
  const char* source;
  int64_t bytes;
};

// The rows of a token; none if its slot lies outside the cache.
struct TokenRows {
  Row rows[3];
  int count;
};

inline Row row_of(const KvRows& rows, void* cache, int64_t slot, const void* source,
                  int64_t offset, int64_t width) {
  return {static_cast<char*>(cache) + slot * width * rows.element_bytes,
          static_cast<const char*>(source) + offset * rows.element_bytes,
          width * rows.element_bytes};
}

inline TokenRows token_rows(const KvRows& rows, int64_t token) {
  const KvWriteParams& p = *rows.p;
  const int64_t slot = p.slots[token];
  TokenRows all;
  all.count = 0;
  if (slot < 0 || slot >= p.cache_slots) return all;
  all.rows[0] = row_of(rows, p.k_cache, slot, p.k, token * p.k_stride, p.width);
  all.rows[1] = row_of(rows, p.v_cache, slot, p.v, token * p.v_stride, p.width);
  all.count = 2;
  if (p.index_k == nullptr) return all;
  const int64_t offset = token * p.index_k_stride;
  all.rows[all.count++] = row_of(rows, p.index_cache, slot, p.index_k, offset, p.index_dim);
  return all;
}

inline void copy(const Row& row) {
  int64_t b = 0;
  for (; b + 128 <= row.bytes; b += 128) {
    __m256i x[4];
    for (int i = 0; i < 4; ++i) {
      x[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row.source + b + i * 32));
    }
    for (int i = 0; i < 4; ++i) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(row.cache + b + i * 32), x[i]);
    }
  }
  if (b < row.bytes) memcpy(row.cache + b, row.source + b, static_cast<size_t>(row.bytes - b));
}

}  // namespace

void write_rows_avx2(void* argument, int64_t begin, int64_t end) {
  const KvRows& rows = *static_cast<const KvRows*>(argument);
  TokenRows now;
  now.count = 0;
  for (int64_t token = begin; token <= end; ++token) {
    TokenRows next;
    next.count = 0;
    if (token < end) next = token_rows(rows, token);
    // The prefetch stays in this loop: GCC takes a function that only prefetches for one without
    // effects and drops its calls.
    for (int i = 0; i < next.count; ++i) {
      const Row& row = next.rows[i];
      for (int64_t b = 0; b < row.bytes; b += kLineBytes) __builtin_prefetch(row.cache + b, 1);
    }
    for (int i = 0; i < now.count; ++i) copy(now.rows[i]);
    now = next;
  }
}

}  // namespace attention_kernels
