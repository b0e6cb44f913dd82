// Attention rows, AVX2 + FMA.
#include "vector/avx2.h"

#include "attend_body.h"

void attention_kernels::attend_rows_avx2(const Attend& a, const AttendRows& rows) {
  attend_rows_body(a, rows);
}
