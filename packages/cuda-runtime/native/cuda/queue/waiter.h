// The thread that notices what the device has finished: it polls the first open mark of each
// stream. Polling survives device errors, after which host functions are no longer called.
#pragma once

#include <atomic>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/ref.h"
#include "core/check/latency_histogram.h"

namespace cuda_runtime::cuda {

class Device;
class Queue;
class Mark;
struct InFlight;

class Waiter {
 public:
  explicit Waiter(Device& device);
  ~Waiter();

  /// Looks after the queue until nothing is in flight on it. Throws bad_alloc.
  void watch(core::Ref<Queue> queue);
  /// Those that have something in flight, and perhaps some that have not.
  std::vector<core::Ref<Queue>> queues();
  /// Somebody waits: look again at once.
  void hurry();
  /// Notices that marks hold; the waiter rests little while there are any.
  std::atomic<int64_t> demands{0};
  /// For each look that found something while somebody waited: how long ago the look before was, so
  /// at most how late it is.
  const core::LatencyHistogram& latency() const { return latency_; }

 private:
  friend class WatchPlaces;
  void start();
  void run() noexcept;
  bool round();
  void refresh();
  void rest(uint32_t idle_rounds);

  Device& device_;
  core::Mutex mutex_;
  core::Condition arrived_;
  std::vector<core::Ref<Queue>> queues_;
  std::vector<core::Ref<Mark>> marks_;
  size_t places_ = 0;  // in `marks_`, for marks to come
  bool running_ = false;
  // The thread's own copies, made anew when the lists have changed.
  bool changed_ = false;
  std::vector<core::Ref<Queue>> seen_queues_;
  std::vector<core::Ref<Mark>> seen_marks_;
  std::vector<InFlight> reaped_;  // over and not settled yet: kept when a round ends early
  std::atomic<bool> hurried_{false};
  std::atomic<bool> resting_{false};
  core::LatencyHistogram latency_;
  int64_t last_look_ns_ = 0;  // of the thread alone
};

/// Room for marks that are in no queue: those that graphs and kernels record. Taken before the
/// submission that records them, so that nothing can fail after it.
class WatchPlaces {
 public:
  /// Throws bad_alloc.
  WatchPlaces(Waiter& waiter, size_t count);
  ~WatchPlaces();
  WatchPlaces(const WatchPlaces&) = delete;
  WatchPlaces& operator=(const WatchPlaces&) = delete;

  /// The waiter looks after the mark from now on; `count` times at most.
  void watch(core::Ref<Mark> mark) noexcept;

 private:
  Waiter& waiter_;
  size_t left_;
};

}  // namespace cuda_runtime::cuda
