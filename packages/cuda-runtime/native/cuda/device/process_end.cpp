#include "cuda/device/process_end.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "core/base/clock.h"

namespace cuda_runtime::cuda {
namespace {

constexpr int64_t kPatienceNs = 1'000'000'000;

std::atomic<bool> process_ends{false};
std::atomic<int> users{0};

void wait_for_users() {
  process_ends.store(true);
  const int64_t end = core::now_ns() + kPatienceNs;
  while (users.load() > 0 && core::now_ns() < end) usleep(100);
}

}  // namespace

DriverUse::DriverUse() noexcept {
  users.fetch_add(1);
  if (!process_ends.load()) return;
  users.fetch_sub(1);
  for (;;) pause();
}

DriverUse::~DriverUse() { users.fetch_sub(1); }

void park_threads_at_exit() {
  static const int once = std::atexit(wait_for_users);
  (void)once;
}

}  // namespace cuda_runtime::cuda
