// The virtual clock: an operation starts at the latest end of what it waits for, and lasts what its
// cost says. Every stream runs at once, so that times follow from the order alone and no schedule
// of threads changes them. The host's own time is the latest end that it has seen.
#pragma once

#include <atomic>

#include "core/check/check_options.h"
#include "core/work.h"

namespace cuda_runtime::cpu {

/// Raises an atomic to a value that may be larger.
inline void raise(std::atomic<int64_t>& time, int64_t value) {
  int64_t seen = time.load(std::memory_order_relaxed);
  while (seen < value && !time.compare_exchange_weak(seen, value)) {
  }
}

/// Cost of an operation in nanoseconds.
inline int64_t virtual_cost(const core::CheckOptions& options, const core::Work& work) {
  switch (work.kind) {
    case core::WorkKind::kKernel: {
      uint64_t bytes = 0;
      for (const core::Access& access : work.accesses) bytes += access.end - access.begin;
      const auto known = options.kernel_costs.find(work.kernel->name());
      const bool is_listed = known != options.kernel_costs.end();
      return (is_listed ? known->second : options.kernel_cost).of(bytes);
    }
    case core::WorkKind::kCopy:
    case core::WorkKind::kFill:
    case core::WorkKind::kWrite:
    case core::WorkKind::kRead:
      return options.copy_cost.of(work.bytes);
    case core::WorkKind::kHost: {
      const auto known = options.kernel_costs.find(work.label());
      return known != options.kernel_costs.end() ? known->second.of(0) : 0;
    }
    default:
      return 0;
  }
}

}  // namespace cuda_runtime::cpu
