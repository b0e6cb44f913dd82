// A buffer as a field of a parameter struct.
#pragma once

#include "core/memory/buffer.h"

namespace cuda_runtime::core {

/// The field and the range of bytes that its tensor spans.
struct BufferArgument {
  Ref<Buffer> buffer;
  uint32_t field = 0;
  uint64_t offset = 0;
  uint64_t extent = 0;
};

}  // namespace cuda_runtime::core
