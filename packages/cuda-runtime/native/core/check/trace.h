// Spans of executed operations; off costs one relaxed load per operation.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/work.h"

namespace cuda_runtime::core {

struct Span {
  std::string name;
  WorkKind kind = WorkKind::kKernel;
  std::string stream;
  uint64_t thread = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  bool graph = false;
  uint32_t node = 0;
  uint64_t launch = 0;  // operation, or launch of the executable
};

class Trace {
 public:
  bool is_on() const { return on_.load(std::memory_order_relaxed); }
  void enable(bool on);
  void add(Span span);
  /// A span was lost, since there was no memory for it; `take` will say so.
  void lose() { lost_.fetch_add(1, std::memory_order_relaxed); }
  /// JSON array of the spans so far; clears them. An error when some were lost.
  Status take(std::string& json);

 private:
  std::atomic<bool> on_{false};
  std::atomic<uint64_t> lost_{0};
  Mutex mutex_;
  std::vector<Span> spans_;
};

}  // namespace cuda_runtime::core
