// A stream on the device and what is in flight on it. Work is kept until a mark behind it is
// reached: only then may its memory, its kernels and its graph go.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "core/graph/exec.h"
#include "core/work.h"
#include "cuda/queue/mark.h"

namespace cuda_runtime::cuda {

class Device;

/// One submitted thing, a mark, or work with a mark right behind it; empty for a wait. The queue
/// lets go of it when the next mark is reached.
struct InFlight {
  core::Ref<core::Work> work;
  core::Ref<core::Exec> exec;
  core::Ref<Mark> mark;
  bool is_private = false;  // a mark that nobody asked for; not counted as pending
  core::Ref<core::Graph> graph;  // what the launch of `exec` does
  // Events that the launch waits for: recorded anew by somebody else, they would be other events.
  core::Ref<core::RefCounted> awaited = {};
};

/// What is over, until all locks are free and it may be released.
using Reaped = std::vector<InFlight>;

class Queue : public core::RefCounted {
 public:
  /// `is_plain`: of default priority, and not the legacy stream.
  Queue(Device& device, cudaStream_t stream, std::string name, bool owned, bool is_plain);

  cudaStream_t stream() const { return stream_; }
  bool is_plain() const { return is_plain_; }
  uint64_t pending() const { return pending_.load(std::memory_order_relaxed); }

  /// Submits by `issue`, which returns the driver's answer, and keeps the work until it is over.
  /// Throws with nothing kept when the driver refuses; `what()` then says what was tried.
  template <typename What, typename Issue>
  void submit(InFlight entry, What what, Issue issue) {
    core::LockGuard lock(mutex_);
    const bool has_mark = static_cast<bool>(entry.mark);
    begin(std::move(entry));
    const cudaError_t error = issue();
    if (error != cudaSuccess) refused(error, what());
    submitted(has_mark);
  }

  /// Appends a mark; throws with nothing appended when the driver refuses.
  core::Ref<Mark> mark(bool timing, Notice notice);
  /// The last point; null when everything is over.
  core::Ref<Mark> tail();

  /// Visits what is in flight, under the mutex.
  void visit(const std::function<void(const core::SubmittedWork&)>& visitor);
  /// For the waiter: moves what is over to `reaped`. False when nothing is left in flight.
  bool reap(Reaped& reaped);
  /// The stream's owner is gone; what is in flight completes. The point behind it, null when that
  /// is over.
  core::Ref<Mark> close();

 private:
  void begin(InFlight entry);
  // All changes are made with the mutex held; only the reading is done without.
  void count(int64_t change) {
    const uint64_t pending = pending_.load(std::memory_order_relaxed);
    pending_.store(pending + static_cast<uint64_t>(change), std::memory_order_relaxed);
  }
  bool is_quiet();
  /// `has_mark`: the entry's own mark follows it.
  void submitted(bool has_mark);
  [[noreturn]] void refused(cudaError_t error, const std::string& what);
  core::Ref<Mark> append_mark(bool timing, Notice* notice, bool is_private);
  bool add_private_mark() noexcept;
  void watch();

  // A mark between two kernels costs time on the device, so that work is marked in lots, and the
  // rest once nothing follows.
  static constexpr uint32_t kMarkInterval = 64;
  static constexpr int64_t kQuietNs = 200'000;

  Device& device_;
  cudaStream_t stream_;
  const std::string name_;  // of the stream, which may be gone
  const bool owned_;
  const bool is_plain_;
  core::Mutex mutex_;
  std::deque<InFlight> items_;
  uint32_t open_marks_ = 0;  // marks in `items_`
  uint32_t unmarked_ = 0;    // items behind the last mark
  // The waiter tells by these whether anything followed; a clock would cost every submission.
  uint64_t submissions_ = 0;
  uint64_t seen_submissions_ = 0;  // at its last look that found another number, which was
  int64_t seen_ns_ = 0;            // then
  bool watched_ = false;
  bool closed_ = false;
  std::atomic<uint64_t> pending_{0};
  core::Ref<Mark> head_;  // the waiter's own: the first open mark, polled without the lock
  core::Ref<core::Kernel> last_good_;
};

}  // namespace cuda_runtime::cuda
