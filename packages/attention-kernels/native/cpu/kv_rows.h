// The loop over the tokens of a step, cut by kv_write.cpp, done once per instruction set.
#ifndef ATTENTION_KERNELS_KV_ROWS_H
#define ATTENTION_KERNELS_KV_ROWS_H

#include "attention_kernels/kv_write.h"

namespace attention_kernels {

struct KvRows {
  const KvWriteParams* p;
  int64_t element_bytes;
};

// A CpuLoopBody: copies the rows of tokens [begin, end); `argument` is a KvRows.
void write_rows_avx2(void* argument, int64_t begin, int64_t end);

}  // namespace attention_kernels

#endif
