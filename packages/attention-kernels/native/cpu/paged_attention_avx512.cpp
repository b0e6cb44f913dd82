// Attention rows, AVX-512.
#include "vector/avx512.h"

#include "attend_body.h"

void attention_kernels::attend_rows_avx512(const Attend& a, const AttendRows& rows) {
  attend_rows_body(a, rows);
}
