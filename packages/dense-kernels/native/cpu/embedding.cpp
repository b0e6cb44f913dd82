// embedding on the CPU: the exported entries and their baseline build. Steps: body/embedding.h.

#include "body/embedding.h"

#include "body/entry.h"

DENSE_KERNELS_ENTRY(embedding_bf16, EmbeddingParams, (embedding<Bf16, Bf16>))
DENSE_KERNELS_ENTRY(embedding_f32, EmbeddingParams, (embedding<float, float>))
DENSE_KERNELS_ENTRY(embedding_bf16_to_f32, EmbeddingParams, (embedding<Bf16, float>))
DENSE_KERNELS_ENTRY(embedding_f32_to_bf16, EmbeddingParams, (embedding<float, Bf16>))
