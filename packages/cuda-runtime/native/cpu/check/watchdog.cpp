#include "cpu/check/watchdog.h"

#include <pthread.h>

#include <algorithm>
#include <cstdio>

#include "core/base/clock.h"
#include "core/base/failure.h"
#include "core/base/status.h"

namespace cuda_runtime::cpu {
namespace {

using core::LockGuard;

constexpr int64_t kLongestTickMs = 1000;
constexpr int64_t kLooksPerHang = 4;

// A fault's JSON names the call that waited.
std::string status_for(const HangReport& report, const char* api) {
  core::Fault fault;
  fault.code = "CRT_DEADLOCK";
  fault.number = core::kNotReady;
  fault.detail = report.picture;
  fault.hint = kHangHint;
  return core::to_json(fault, api);
}

void deliver(const HangReport& report) noexcept {
  if (report.is_new) std::fprintf(stderr, "cuda-runtime: %s\n", report.picture.c_str());
  for (const Notice& notice : report.notices) {
    try {
      notice.sink->post(notice.token, status_for(report, notice.api));
    } catch (const std::bad_alloc&) {
      notice.sink->post(notice.token, core::kOutOfMemoryText);
    }
  }
}

}  // namespace

Watchdog& Watchdog::instance() {
  static Watchdog* const watchdog = new Watchdog();
  return *watchdog;
}

void Watchdog::add(Watched& watched) noexcept {
  LockGuard lock(mutex_);
  try {
    watched_.push_back(&watched);
  } catch (const std::bad_alloc&) {
    return;
  }
  if (!is_running_) is_running_ = core::try_start_thread([this] { run(); });
  changed_.notify_all();
}

void Watchdog::remove(Watched& watched) {
  LockGuard lock(mutex_);
  std::erase(watched_, &watched);
}

// The caller holds the mutex.
int64_t Watchdog::tick_ns() {
  int64_t tick_ms = kLongestTickMs;
  for (const Watched* watched : watched_) {
    tick_ms = std::min(tick_ms, std::max<int64_t>(1, watched->hang_ms() / kLooksPerHang));
  }
  return tick_ms * 1'000'000;
}

void Watchdog::run() {
  pthread_setname_np(pthread_self(), "crt-watchdog");
  mutex_.lock();
  while (true) {
    if (watched_.empty()) {
      changed_.wait(mutex_);
      continue;
    }
    changed_.wait_until(mutex_, core::now_ns() + tick_ns());
    std::vector<HangReport> reports;
    for (Watched* watched : watched_) {
      try {
        HangReport report;
        watched->look(core::now_ns(), report);
        if (!report.picture.empty()) reports.push_back(std::move(report));
      } catch (const std::bad_alloc&) {
        // The next look may have the memory.
      }
    }
    if (reports.empty()) continue;
    // Without the lock: posting may end what is looked at.
    mutex_.unlock();
    for (const HangReport& report : reports) deliver(report);
    reports.clear();
    mutex_.lock();
  }
}

}  // namespace cuda_runtime::cpu
