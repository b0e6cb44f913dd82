// What each thread runs now, for the watchdog's picture. A thread has a slot with a lock of its
// own, which nobody but the watchdog contends for.
#pragma once

#include <functional>
#include <memory>

#include "core/work.h"
#include "cpu/kernel_call.h"

namespace cuda_runtime::cpu {

/// While it exists, this thread runs `work` for `owner`.
class Activity {
 public:
  Activity(const Scheduler& owner, const core::Work& work, const KernelCall& call);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  /// What a slot shows; valid during the visit.
  struct View {
    const core::Work& work;
    const KernelCall& call;
    int thread;  // the system's id
  };
  /// This thread has come further in what it does, or did last.
  static void advance();

  /// Visits what runs for `owner`; returns how often its threads have ended an operation or come
  /// further in one so far.
  static uint64_t visit(const Scheduler& owner, const std::function<void(const View&)>& visitor);

 private:
  struct Slot;
  struct Registry;
  static Registry& registry();
  static Slot* this_thread();

  Slot* const slot_;
  const Activity* outer_ = nullptr;
  const Scheduler& owner_;
  const core::Work& work_;
  const KernelCall& call_;
};

}  // namespace cuda_runtime::cpu
