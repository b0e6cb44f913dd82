// Row gather on the CPU. Tokens in parallel; a copy when table and output have one dtype, else one
// rounding an element. Bound by memory, so there is no version for a higher instruction set.

#include "dense_kernels/embedding.h"

#include "cuda_runtime/abi.h"
#include "dense_kernels/lanes.h"

namespace {

constexpr int64_t kEmbeddingGrain = 32768;  // elements a piece

template <typename From, typename To>
void convert_row(const From* from, To* to, int hidden) {
  int i = 0;
  for (; i + kLanes <= hidden; i += kLanes) store(to + i, load(from + i));
  if (i < hidden) store_some(to + i, load_some(from + i, hidden - i), hidden - i);
}

template <typename T>
void convert_row(const T* from, T* to, int hidden) {
  __builtin_memcpy(to, from, sizeof(T) * static_cast<uint64_t>(hidden));
}

template <typename From, typename To>
void gather_rows(void* argument, int64_t begin, int64_t end) {
  const EmbeddingParams* p = static_cast<const EmbeddingParams*>(argument);
  const int32_t* ids = static_cast<const int32_t*>(p->ids);
  for (int64_t token = begin; token < end; ++token) {
    To* y = static_cast<To*>(p->y) + token * p->hidden;
    const int64_t id = ids[token];
    if (id < 0 || id >= p->rows) {
      __builtin_memset(y, 0, sizeof(To) * static_cast<uint64_t>(p->hidden));
      continue;
    }
    convert_row(static_cast<const From*>(p->table) + id * p->table_stride, y, p->hidden);
  }
}

template <typename From, typename To>
void embedding(const EmbeddingParams* p, const CpuContext* context) {
  const int64_t grain = kEmbeddingGrain / (p->hidden + 1) + 1;
  context->parallel_for(context, p->tokens, grain, gather_rows<From, To>,
                        const_cast<EmbeddingParams*>(p));
}

}  // namespace

extern "C" void embedding_bf16(const EmbeddingParams* p, const CpuContext* context) {
  embedding<Bf16, Bf16>(p, context);
}

extern "C" void embedding_f32(const EmbeddingParams* p, const CpuContext* context) {
  embedding<float, float>(p, context);
}

extern "C" void embedding_bf16_to_f32(const EmbeddingParams* p, const CpuContext* context) {
  embedding<Bf16, float>(p, context);
}

extern "C" void embedding_f32_to_bf16(const EmbeddingParams* p, const CpuContext* context) {
  embedding<float, Bf16>(p, context);
}
