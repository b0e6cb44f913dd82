// That a device is lost: set once, then every later call answers the same error, and whoever
// watches is told.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/stream/completion_sink.h"

namespace cuda_runtime::core {

class DeviceLoss {
 public:
  explicit DeviceLoss(
      const char* hint = "Dispose the runtime and open a new one; its memory is gone")
      : hint_(hint) {}

  bool is_lost() const { return number_.load(std::memory_order_acquire) != 0; }
  /// The first reason stays. Posts the tokens of those who watch.
  void lose(int number, std::string detail) noexcept;
  /// What is known besides, for later errors; the first stays.
  void note(std::string detail) noexcept;
  /// `CRT_DEVICE_LOST`, or success.
  Status status() const;

  /// Posts the token with the loss when it comes; at once when it came before.
  void watch(Ref<CompletionSink> sink, int64_t token);
  /// The sink's owner ends.
  void forget(const CompletionSink& sink) noexcept;

 private:
  struct Watcher {
    Ref<CompletionSink> sink;
    int64_t token = 0;
  };
  void tell(const Watcher& watcher) const noexcept;

  const char* const hint_;
  std::atomic<int> number_{0};
  mutable Mutex mutex_;
  std::string detail_;
  bool is_noted_ = false;
  std::vector<Watcher> watchers_;
};

}  // namespace cuda_runtime::core
