// Options of the CPU backend's checks: what operations cost on the virtual clock, when a run counts
// as hanging, how memory is guarded.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/base/json.h"
#include "core/base/status.h"

namespace cuda_runtime::core {

/// A fixed time and one by bytes: `ns + bytes · ns_per_byte`.
struct OperationCost {
  double ns = 0;
  double ns_per_byte = 0;

  int64_t of(uint64_t bytes) const;
};

struct CheckOptions {
  bool virtual_clock = false;
  std::map<std::string, OperationCost> kernel_costs;  // by kernel
  OperationCost kernel_cost{1000, 0};                 // of kernels without an entry
  OperationCost copy_cost{0, 0};  // copies, fills, writes, reads
  int64_t hang_ms = 10'000;       // 0: no watchdog
  bool protect = false;
  bool reuse_any = false;  // a free block of any size that is large enough, the last one first

  /// From the `cpu` object of the options.
  static Status parse(const JsonValue& cpu, CheckOptions& options);
};

}  // namespace cuda_runtime::core
