// Finalize on the CPU, compiled for AVX-512. The loop: body/finalize_rows.h.

#include "body/finalize_levels.h"
#include "body/finalize_rows.h"

void finalize_f32_avx512(void* argument, int64_t begin, int64_t end) {
  finalize_tokens<float>(argument, begin, end);
}

void finalize_bf16_avx512(void* argument, int64_t begin, int64_t end) {
  finalize_tokens<uint16_t>(argument, begin, end);
}
