// When memory or threads run out: exceptions become a Status, threads that cannot be made are done
// without, and tests can make both happen.
#pragma once

#include <atomic>
#include <exception>
#include <thread>
#include <utility>

#include "core/base/status.h"

namespace cuda_runtime::core {

/// A driver's refusal on its way to the border, where it becomes a Status again.
class StatusException : public std::exception {
 public:
  explicit StatusException(Status status) : fault_(std::move(status.fault())) {}
  const Fault& fault() const { return fault_; }
  const char* what() const noexcept override { return fault_.detail.c_str(); }

 private:
  Fault fault_;
};

/// The exception that is being handled, as a Status: `CRT_OOM` when memory or a thread was refused,
/// what a StatusException carries, else `CRT_INTERNAL`. To be called in a catch block; throws
/// bad_alloc if there is no memory at all.
Status status_of_exception();

/// Posted instead of a fault's JSON when there was no memory for it. Short enough to lie inside
/// a std::string, so that it needs none itself.
inline constexpr char kOutOfMemoryText[] = "CRT_OOM";

/// Test hook: while true, no thread can be started.
inline std::atomic<bool> refuse_threads_for_tests{false};

/// Starts a detached thread; false when the system refuses.
template <typename Main>
bool try_start_thread(Main main) noexcept {
  if (refuse_threads_for_tests.load(std::memory_order_relaxed)) return false;
  try {
    std::thread(std::move(main)).detach();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace cuda_runtime::core
