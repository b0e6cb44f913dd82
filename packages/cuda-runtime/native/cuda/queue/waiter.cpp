#include "cuda/queue/waiter.h"

#include <algorithm>

#include "core/base/clock.h"
#include "core/base/failure.h"
#include "cuda/device/device.h"
#include "cuda/device/process_end.h"
#include "cuda/driver.h"
#include "cuda/queue/queue.h"

namespace cuda_runtime::cuda {
namespace {

using core::LockGuard;
using core::Ref;

// Somebody waits: 50 µs of spinning, then short rests. Nobody waits: memory may go a little later.
constexpr int64_t kSpinNs = 50'000;
constexpr int kPauses = 20;
constexpr int64_t kShortRestNs = 50'000;
constexpr int64_t kLongRestNs = 1'000'000;

}  // namespace

Waiter::Waiter(Device& device) : device_(device) {}

Waiter::~Waiter() = default;

// The caller holds the mutex.
void Waiter::start() {
  if (!running_) running_ = core::try_start_thread([this] { run(); });
}

void Waiter::watch(Ref<Queue> queue) {
  LockGuard lock(mutex_);
  queues_.push_back(std::move(queue));
  changed_ = true;
  start();
  if (resting_.load()) arrived_.notify_one();
}

std::vector<Ref<Queue>> Waiter::queues() {
  LockGuard lock(mutex_);
  return queues_;
}

WatchPlaces::WatchPlaces(Waiter& waiter, size_t count) : waiter_(waiter), left_(count) {
  if (count == 0) return;
  LockGuard lock(waiter_.mutex_);
  const size_t needed = waiter_.marks_.size() + waiter_.places_ + count;
  const size_t capacity = waiter_.marks_.capacity();
  if (needed > capacity) waiter_.marks_.reserve(std::max(needed, 2 * capacity));
  waiter_.places_ += count;
}

WatchPlaces::~WatchPlaces() {
  if (left_ == 0) return;
  LockGuard lock(waiter_.mutex_);
  waiter_.places_ -= left_;
}

void WatchPlaces::watch(Ref<Mark> mark) noexcept {
  LockGuard lock(waiter_.mutex_);
  waiter_.marks_.push_back(std::move(mark));
  --waiter_.places_;
  --left_;
  waiter_.changed_ = true;
  waiter_.start();
  if (waiter_.resting_.load()) waiter_.arrived_.notify_one();
}

void Waiter::hurry() {
  hurried_.store(true);
  if (!resting_.load()) return;
  LockGuard lock(mutex_);
  arrived_.notify_one();
}

void Waiter::run() noexcept {
  device_.make_current();
  relax_thread();
  uint32_t idle_rounds = 0;
  int64_t spin_until = 0;
  for (;;) {
    bool progress = false;
    try {
      const DriverUse use;
      progress = round();
    } catch (const std::exception&) {
      // No memory for the lists: look again after a rest.
    }
    if (hurried_.exchange(false) || progress) {
      idle_rounds = 0;
      spin_until = core::now_ns() + kSpinNs;
    }
    // Only while somebody waits: a poll takes the driver's lock, which launches need too.
    if (demands.load() > 0 && core::now_ns() < spin_until) {
      for (int i = 0; i < kPauses; ++i) core::cpu_pause();
      continue;
    }
    rest(idle_rounds++);
  }
}

void Waiter::refresh() {
  LockGuard lock(mutex_);
  if (!changed_) return;
  seen_queues_ = queues_;
  seen_marks_ = marks_;
  changed_ = false;
}

// True when something was over.
bool Waiter::round() {
  refresh();
  const int64_t look_ns = core::now_ns();
  const bool is_awaited = demands.load() > 0;
  std::vector<Ref<Queue>> idle;
  for (const Ref<Queue>& queue : seen_queues_) {
    if (!queue->reap(reaped_)) idle.push_back(queue);
  }
  std::vector<Ref<Mark>> reached;
  for (const Ref<Mark>& mark : seen_marks_) {
    if (mark->poll()) reached.push_back(mark);
  }
  if (!idle.empty() || !reached.empty()) {
    LockGuard lock(mutex_);
    // Once each: a queue that was given work since then is in the list a second time.
    for (const Ref<Queue>& queue : idle) {
      queues_.erase(std::find(queues_.begin(), queues_.end(), queue));
    }
    for (const Ref<Mark>& mark : reached) {
      marks_.erase(std::find(marks_.begin(), marks_.end(), mark));
    }
    changed_ = true;
  }
  const bool found = !reaped_.empty() || !reached.empty();
  if (found && is_awaited) latency_.add(look_ns - last_look_ns_);
  last_look_ns_ = look_ns;
  // Locks are free now: releasing work may free memory, and a notice may wake JavaScript.
  for (InFlight& item : reaped_) {
    if (item.mark) item.mark->settle();
    item = {};
  }
  reaped_.clear();
  for (const Ref<Mark>& mark : reached) mark->settle();
  return found;
}

void Waiter::rest(uint32_t idle_rounds) {
  LockGuard lock(mutex_);
  resting_.store(true);
  if (queues_.empty() && marks_.empty()) {
    while (queues_.empty() && marks_.empty()) arrived_.wait(mutex_);
    last_look_ns_ = core::now_ns();
  } else if (!hurried_.load()) {
    const bool is_urgent = demands.load() > 0 && idle_rounds < 200;
    const int64_t longest = is_urgent ? kShortRestNs : kLongRestNs;
    arrived_.wait_until(mutex_, core::now_ns() + longest);
  }
  resting_.store(false);
}

}  // namespace cuda_runtime::cuda
