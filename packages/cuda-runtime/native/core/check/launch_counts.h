// How much was submitted to streams, by kind, for `stats()`.
#pragma once

#include <array>
#include <atomic>

#include "core/base/json.h"
#include "core/work.h"

namespace cuda_runtime::core {

/// Counts of work that a backend took. Adding needs the runtime's mutex, reading nothing.
class LaunchCounts {
 public:
  void add(WorkKind kind) { add_to(counts_[static_cast<size_t>(kind)]); }
  void add_graph() { add_to(graphs_); }

  uint64_t graphs() const { return graphs_.load(std::memory_order_relaxed); }
  uint64_t all() const;
  /// As one JSON object: what a stream can be given, whether it was or not.
  void write(JsonWriter& json) const;

 private:
  using Count = std::atomic<uint64_t>;

  // One at a time adds, so that a launch pays for no locked instruction.
  static void add_to(Count& count) {
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  std::array<Count, kWorkKinds> counts_{};
  Count graphs_{0};
};

}  // namespace cuda_runtime::core
