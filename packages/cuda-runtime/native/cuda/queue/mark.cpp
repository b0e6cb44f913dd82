#include "cuda/queue/mark.h"

#include "core/base/clock.h"
#include "core/base/failure.h"
#include "cuda/device/device.h"
#include "cuda/driver.h"

namespace cuda_runtime::cuda {

using core::LockGuard;

Mark::Mark(Device& device, bool timing)
    : device_(device), timing_(timing), event_(device.events().take(timing)) {}

Mark::~Mark() {
  device_.waiter().demands.fetch_sub(static_cast<int64_t>(notices_.size()));
  device_.events().give_back(event_, timing_);
}

void Mark::record(cudaStream_t stream) {
  const cudaError_t error = cudaEventRecord(event_, stream);
  if (error == cudaSuccess) return;
  // Without it nobody would learn when the work before it is over.
  device_.lose(error, "recording an event");
  throw core::StatusException(device_.lost_status());
}

bool Mark::poll() {
  if (is_complete()) return true;
  if (!device_.is_lost()) {
    const RelaxedCapture relaxed;
    const cudaError_t error = cudaEventQuery(event_);
    if (error == cudaErrorNotReady || is_unloading(error) || is_capture_error(error)) return false;
    if (error != cudaSuccess) device_.lose(error, "waiting for submitted work");
  }
  LockGuard lock(mutex_);
  if (!is_complete()) mark_complete(core::now_ns());
  return true;
}

bool Mark::add_notice(Notice& notice) {
  LockGuard lock(mutex_);
  if (settled_) return false;
  notices_.push_back(std::move(notice));
  device_.waiter().demands.fetch_add(1);
  return true;
}

void Mark::settle() {
  core::InlineVector<Notice, 1> notices;
  {
    LockGuard lock(mutex_);
    settled_ = true;
    notices = std::move(notices_);
  }
  device_.waiter().demands.fetch_sub(static_cast<int64_t>(notices.size()));
  for (Notice& notice : notices) deliver(device_, notice);
}

void Mark::deliver(Device& device, Notice& notice) {
  if (!notice.sink) return;
  std::string status;
  try {
    if (device.is_lost()) {
      status = core::to_json(device.lost_status().fault(), notice.api);
    } else if (notice.bytes != nullptr) {
      notice.sink->stage(notice.token, std::move(notice.bytes));
    }
  } catch (const std::bad_alloc&) {
    status = core::kOutOfMemoryText;
  }
  notice.sink->post(notice.token, std::move(status));
}

}  // namespace cuda_runtime::cuda
