// embedding on the CPU, built for AVX2. Steps: body/embedding.h.

#include "body/embedding.h"

void embedding_bf16_avx2(const EmbeddingParams* p, const CpuContext* context) {
  embedding<Bf16, Bf16>(p, context);
}

void embedding_f32_avx2(const EmbeddingParams* p, const CpuContext* context) {
  embedding<float, float>(p, context);
}

void embedding_bf16_to_f32_avx2(const EmbeddingParams* p, const CpuContext* context) {
  embedding<Bf16, float>(p, context);
}

void embedding_f32_to_bf16_avx2(const EmbeddingParams* p, const CpuContext* context) {
  embedding<float, Bf16>(p, context);
}
