// test_add with AVX2: eight elements at once, the same roundings as the baseline.
#include <immintrin.h>

#include "test_kernels/add.h"

void test_add_avx2(const AddParams* p);

void test_add_avx2(const AddParams* p) {
  const __m256 scale = _mm256_set1_ps(p->scale);
  int64_t i = 0;
  for (; i + 8 <= p->count; i += 8) {
    const __m256 b = p->b != nullptr ? _mm256_loadu_ps(p->b + i) : _mm256_setzero_ps();
    const __m256 sum = _mm256_add_ps(_mm256_loadu_ps(p->a + i), b);
    _mm256_storeu_ps(p->y + i, _mm256_mul_ps(sum, scale));
  }
  for (; i < p->count; ++i) {
    p->y[i] = (p->a[i] + (p->b != nullptr ? p->b[i] : 0.0f)) * p->scale;
  }
}
