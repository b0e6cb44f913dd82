// A point in a stream. Events, waits and synchronisation hold the ticket that they saw, which gives
// snapshot semantics: recording an event again leaves earlier waits alone.
#pragma once

#include <atomic>
#include <map>
#include <memory>

#include "core/base/ref.h"

namespace cuda_runtime::core {

/// For each stream id, how many of its operations happened before (race checker only).
using VectorClock = std::map<uint64_t, uint64_t>;

class Ticket : public RefCounted {
 public:
  bool is_complete() const { return complete_.load(std::memory_order_acquire); }
  /// Steady clock at completion; valid once complete.
  int64_t completed_ns() const { return completed_ns_; }
  std::unique_ptr<VectorClock> clock;

 protected:
  void mark_complete(int64_t time_ns) {
    completed_ns_ = time_ns;
    complete_.store(true, std::memory_order_release);
  }

 private:
  std::atomic<bool> complete_{false};
  int64_t completed_ns_ = 0;
};

}  // namespace cuda_runtime::core
