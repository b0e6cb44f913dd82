// The last accesses to each byte range of a buffer, as the race checker needs them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/origin.h"

namespace cuda_runtime::core {

/// One access of a submitted operation.
struct PastAccess {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint8_t mode = 0;       // AccessMode
  uint64_t stream = 0;    // stream id
  uint64_t position = 0;  // number of the operation in its stream
  std::string name;       // kernel@stream
  Origin origin;
};

class AccessHistory {
 public:
  std::vector<PastAccess> accesses;
};

}  // namespace cuda_runtime::core
