#include "core/check/device_loss.h"

#include <new>

#include "core/base/failure.h"

namespace cuda_runtime::core {

void DeviceLoss::lose(int number, std::string detail) noexcept {
  std::vector<Watcher> watchers;
  {
    LockGuard lock(mutex_);
    if (number_.load() != 0) return;
    detail_ = std::move(detail);
    watchers.swap(watchers_);
    number_.store(number, std::memory_order_release);
  }
  for (const Watcher& watcher : watchers) tell(watcher);
}

void DeviceLoss::note(std::string detail) noexcept {
  LockGuard lock(mutex_);
  if (is_noted_) return;
  try {
    detail_ += "; " + detail;
    is_noted_ = true;
  } catch (const std::bad_alloc&) {
    // Less to tell.
  }
}

Status DeviceLoss::status() const {
  if (!is_lost()) return {};
  LockGuard lock(mutex_);
  return Status::error("CRT_DEVICE_LOST", number_.load(),
                       detail_.empty() ? "the device is lost" : detail_, hint_);
}

void DeviceLoss::watch(Ref<CompletionSink> sink, int64_t token) {
  const Watcher watcher{std::move(sink), token};
  {
    LockGuard lock(mutex_);
    if (number_.load() == 0) return watchers_.push_back(watcher);
  }
  tell(watcher);
}

void DeviceLoss::forget(const CompletionSink& sink) noexcept {
  LockGuard lock(mutex_);
  std::erase_if(watchers_, [&](const Watcher& watcher) { return watcher.sink.get() == &sink; });
}

void DeviceLoss::tell(const Watcher& watcher) const noexcept {
  std::string text;
  try {
    text = to_json(status().fault(), "runtime.onDeviceLost");
  } catch (const std::bad_alloc&) {
    text = kOutOfMemoryText;  // short enough to need no memory
  }
  watcher.sink->post(watcher.token, std::move(text));
}

}  // namespace cuda_runtime::core
