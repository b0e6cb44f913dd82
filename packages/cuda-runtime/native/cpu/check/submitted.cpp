// What an audit asks of a scheduler: what is in flight.
#include "cpu/scheduler.h"

namespace cuda_runtime::cpu {

// What has run gives back what it held under the mutex, too; then its stream alone is left.
void Scheduler::visit_submitted(
    const std::function<void(const core::SubmittedWork&)>& visitor) {
  core::LockGuard lock(mutex_);
  for (const Operation* live = first_live_; live != nullptr; live = live->later) {
    const GraphLaunch* const launch = live->launch.get();
    visitor({live->stream->display_name(), live->stream.get(), live->work.get(),
             launch != nullptr ? launch->exec.get() : nullptr,
             launch != nullptr ? launch->graph.get() : nullptr});
  }
}

}  // namespace cuda_runtime::cpu
