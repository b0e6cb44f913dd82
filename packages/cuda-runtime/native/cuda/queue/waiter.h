// The thread that notices what the device has finished: it polls the first open mark of each stream.
// Polling survives device errors, after which host functions are no longer called.
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

class Waiter {
 public:
  explicit Waiter(Device& device);
  ~Waiter();

  /// Looks after the queue until nothing is in flight on it. Throws bad_alloc.
  void watch(core::Ref<Queue> queue);
  /// Looks after a mark that is in no queue: one that a graph records.
  void watch(core::Ref<Mark> mark);
  /// Somebody waits: look again at once.
  void hurry();
  /// Notices that marks hold; the waiter rests little while there are any.
  std::atomic<int64_t> demands{0};
  /// For each look that found something while somebody waited: how long ago the look before was, so
  /// at most how late it is.
  const core::LatencyHistogram& latency() const { return latency_; }

 private:
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
  bool running_ = false;
  // The thread's own copies, made anew when the lists have changed.
  bool changed_ = false;
  std::vector<core::Ref<Queue>> seen_queues_;
  std::vector<core::Ref<Mark>> seen_marks_;
  std::atomic<bool> hurried_{false};
  std::atomic<bool> resting_{false};
  core::LatencyHistogram latency_;
  int64_t last_look_ns_ = 0;  // of the thread alone
};

}  // namespace cuda_runtime::cuda
