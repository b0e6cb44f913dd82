#include "cuda/device/event_pool.h"

#include "cuda/driver.h"

namespace cuda_runtime::cuda {

cudaEvent_t EventPool::take(bool timing) {
  {
    core::LockGuard lock(mutex_);
    std::vector<cudaEvent_t>& free = free_[timing ? 1 : 0];
    // Room for its return, so that giving back needs no memory.
    free.reserve(free.size() + 1);
    if (!free.empty()) {
      cudaEvent_t event = free.back();
      free.pop_back();
      return event;
    }
  }
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, timing ? cudaEventDefault : cudaEventDisableTiming),
        "creating an event");
  return event;
}

void EventPool::give_back(cudaEvent_t event, bool timing) noexcept {
  {
    core::LockGuard lock(mutex_);
    try {
      free_[timing ? 1 : 0].push_back(event);
      return;
    } catch (const std::bad_alloc&) {
      // No room to keep it.
    }
  }
  cudaEventDestroy(event);
}

}  // namespace cuda_runtime::cuda
