#include "cpu/check/activity.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "core/base/mutex.h"

namespace cuda_runtime::cpu {

using core::LockGuard;

struct Activity::Slot {
  core::Mutex mutex;  // guards the following
  const Activity* running = nullptr;
  const Scheduler* owner = nullptr;
  uint64_t progress = 0;
  const int thread = static_cast<int>(syscall(SYS_gettid));
};

struct Activity::Registry {
  core::Mutex mutex;
  std::vector<Slot*> slots;
};

Activity::Registry& Activity::registry() {
  static Registry* const instance = new Registry();
  return *instance;
}

Activity::Slot* Activity::this_thread() {
  struct Owned {
    Slot slot;
    Owned() {
      LockGuard lock(registry().mutex);
      try {
        registry().slots.push_back(&slot);
      } catch (const std::bad_alloc&) {
        // The picture lacks this thread.
      }
    }
    ~Owned() {
      LockGuard lock(registry().mutex);
      std::erase(registry().slots, &slot);
    }
  };
  static thread_local Owned owned;
  return &owned.slot;
}

Activity::Activity(const Scheduler& owner, const core::Work& work, const KernelCall& call)
    : slot_(this_thread()), owner_(owner), work_(work), call_(call) {
  LockGuard lock(slot_->mutex);
  outer_ = slot_->running;
  slot_->running = this;
  slot_->owner = &owner;
}

Activity::~Activity() {
  LockGuard lock(slot_->mutex);
  slot_->running = outer_;
  ++slot_->progress;
}

void Activity::advance() {
  Slot* const slot = this_thread();
  LockGuard lock(slot->mutex);
  ++slot->progress;
}

uint64_t Activity::visit(const Scheduler& owner, const std::function<void(const View&)>& visitor) {
  uint64_t progress = 0;
  LockGuard lock(registry().mutex);
  for (Slot* slot : registry().slots) {
    LockGuard slot_lock(slot->mutex);
    if (slot->owner != &owner) continue;
    progress += slot->progress;
    const Activity* running = slot->running;
    if (running != nullptr) visitor({running->work_, running->call_, slot->thread});
  }
  return progress;
}

}  // namespace cuda_runtime::cpu
