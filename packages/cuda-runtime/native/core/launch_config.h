// How a kernel is launched; the words of the command block (src/native/binding.ts).
#pragma once

#include <cstdint>

namespace cuda_runtime::core {

struct Dim3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
  uint64_t product() const { return static_cast<uint64_t>(x) * y * z; }
  bool has_zero() const { return x == 0 || y == 0 || z == 0; }
};

enum LaunchFlag : uint32_t {
  kProgrammatic = 1,  // may start when its predecessor triggers
  kCooperative = 2,
  kClusterGiven = 4,
  kPriorityGiven = 8,
  kNonPortableCluster = 32,  // up to 16 blocks
};

struct LaunchConfig {
  Dim3 grid;
  Dim3 block;
  uint32_t shared_bytes = 0;
  uint32_t flags = 0;
  Dim3 cluster;
  int32_t priority = 0;
};

}  // namespace cuda_runtime::core
