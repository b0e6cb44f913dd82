// That a device is lost: set once, then every later call answers the same error.
#pragma once

#include <atomic>
#include <string>

#include "core/base/mutex.h"
#include "core/base/status.h"

namespace cuda_runtime::core {

class DeviceLoss {
 public:
  bool is_lost() const { return number_.load(std::memory_order_acquire) != 0; }
  /// The first reason stays.
  void lose(int number, std::string detail) {
    LockGuard lock(mutex_);
    if (number_.load() != 0) return;
    detail_ = std::move(detail);
    number_.store(number, std::memory_order_release);
  }
  /// `CRT_DEVICE_LOST`, or success.
  Status status() const {
    if (!is_lost()) return {};
    LockGuard lock(mutex_);
    return Status::error("CRT_DEVICE_LOST", number_.load(), detail_,
                         "Dispose the runtime and open a new one; its memory is gone");
  }

 private:
  std::atomic<int> number_{0};
  mutable Mutex mutex_;
  std::string detail_;
};

}  // namespace cuda_runtime::core
