#include "cpu/executor.h"

#include <pthread.h>

#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "core/base/clock.h"

namespace cuda_runtime::cpu {
namespace {

using core::LockGuard;

constexpr int64_t kIdleNs = 5'000'000'000;        // an idle thread ends after this long
constexpr int64_t kSpinNs = 30'000;               // looks for work before it sleeps
constexpr int64_t kAdversarialHoldNs = 2'000'000;  // lets choices pile up

}  // namespace

struct Executor::State {
  State(Schedule s, uint64_t seed, uint32_t max, Run r)
      : schedule(s), max_threads(max), run(std::move(r)), random(seed), prefers_late(seed % 2) {}

  const Schedule schedule;
  const uint32_t max_threads;
  const Run run;
  std::atomic<uint32_t> queued{0};  // mirrors queue.size() for spinning threads
  std::atomic<bool> stop{false};

  core::Mutex mutex;  // guards the following
  core::Condition work;
  core::Condition ended;
  std::deque<Task> queue;
  std::mt19937_64 random;
  bool prefers_late;
  bool demanded = false;
  int64_t last_push_ns = 0;
  uint32_t threads = 0;
  uint32_t parked = 0;
  uint32_t spinning = 0;
  uint32_t blocked = 0;

  Task pop();
  bool may_pop();
  bool wait_for_work();
  bool spin();
};

// The caller holds the mutex and the queue is not empty.
Task Executor::State::pop() {
  size_t chosen = 0;
  const auto better = [&](const Task& a, const Task& b) {
    if (schedule == Schedule::kAdversarial && a.stream != b.stream) {
      return prefers_late ? a.stream > b.stream : a.stream < b.stream;
    }
    return a.order != b.order ? a.order < b.order : a.node < b.node;
  };
  if (schedule == Schedule::kRandom) {
    chosen = random() % queue.size();
  } else if (schedule != Schedule::kParallel) {
    for (size_t i = 1; i < queue.size(); ++i) {
      if (better(queue[i], queue[chosen])) chosen = i;
    }
  }
  const Task task = queue[chosen];
  if (chosen == 0) {
    queue.pop_front();
  } else {
    queue.erase(queue.begin() + static_cast<int64_t>(chosen));
  }
  queued.store(static_cast<uint32_t>(queue.size()), std::memory_order_relaxed);
  return task;
}

bool Executor::State::may_pop() {
  if (queue.empty()) return false;
  if (schedule != Schedule::kAdversarial || demanded) return true;
  return core::now_ns() - last_push_ns > kAdversarialHoldNs;
}

// Looks for work without the mutex; true when there is some. One thread at a time does this, so
// that bursts of short operations cost no system calls on either side.
bool Executor::State::spin() {
  if (schedule != Schedule::kParallel || spinning > 0) return false;
  ++spinning;
  mutex.unlock();
  const int64_t end = core::now_ns() + kSpinNs;
  bool found = false;
  do {
    for (int i = 0; i < 32 && !found; ++i) {
      core::cpu_pause();
      found = queued.load(std::memory_order_relaxed) > 0 || stop.load(std::memory_order_relaxed);
    }
  } while (!found && core::now_ns() < end);
  mutex.lock();
  --spinning;
  return found;
}

// The caller holds the mutex; false when the thread shall end.
bool Executor::State::wait_for_work() {
  const int64_t idle_end = core::now_ns() + kIdleNs;
  while (!stop.load(std::memory_order_relaxed)) {
    if (may_pop() || spin()) {
      if (may_pop()) return true;
      continue;
    }
    if (may_pop()) return true;
    if (queue.empty()) demanded = false;
    const int64_t wake = queue.empty() ? idle_end : core::now_ns() + kAdversarialHoldNs;
    ++parked;
    const bool woken = work.wait_until(mutex, wake);
    --parked;
    if (!woken && queue.empty() && core::now_ns() >= idle_end) return false;
  }
  return false;
}

Executor::Executor(Schedule schedule, uint64_t seed, uint32_t max_threads, Run run)
    : schedule_(schedule) {
  const bool single = schedule == Schedule::kSerial || schedule == Schedule::kAdversarial;
  state_ = std::make_shared<State>(schedule, seed, single ? 1 : max_threads, std::move(run));
}

Executor::~Executor() {
  LockGuard lock(state_->mutex);
  state_->stop.store(true, std::memory_order_relaxed);
  state_->work.notify_all();
}

uint32_t Executor::threads() {
  LockGuard lock(state_->mutex);
  return state_->threads;
}

void Executor::push(const Task* tasks, size_t count) {
  if (count == 0) return;
  State& state = *state_;
  LockGuard lock(state.mutex);
  for (size_t i = 0; i < count; ++i) state.queue.push_back(tasks[i]);
  const auto size = static_cast<uint32_t>(state.queue.size());
  state.queued.store(size, std::memory_order_relaxed);
  if (schedule_ == Schedule::kAdversarial) state.last_push_ns = core::now_ns();
  uint32_t wanted = size > state.spinning ? size - state.spinning : 0;
  for (uint32_t woken = 0; woken < state.parked && wanted > 0; ++woken, --wanted) {
    state.work.notify_one();
  }
  while (wanted > 0 && state.threads < state.max_threads + state.blocked) {
    ++state.threads;
    --wanted;
    std::thread(thread_main, state_).detach();
  }
}

void Executor::demand() {
  if (schedule_ != Schedule::kAdversarial) return;
  LockGuard lock(state_->mutex);
  state_->demanded = true;
  state_->work.notify_all();
}

void Executor::begin_block() {
  State& state = *state_;
  LockGuard lock(state.mutex);
  ++state.blocked;
  if (state.queue.empty()) return;
  if (state.parked > 0) {
    state.work.notify_one();
  } else if (state.threads < state.max_threads + state.blocked) {
    ++state.threads;
    std::thread(thread_main, state_).detach();
  }
}

void Executor::end_block() {
  LockGuard lock(state_->mutex);
  --state_->blocked;
}

void Executor::thread_main(std::shared_ptr<State> state) {
  pthread_setname_np(pthread_self(), "crt-executor");
  state->mutex.lock();
  while (state->wait_for_work()) {
    Task task = state->pop();
    const bool yields = state->schedule == Schedule::kRandom && state->random() % 4 == 0;
    state->mutex.unlock();
    if (yields) std::this_thread::yield();
    while (task) task = state->run(task);
    state->mutex.lock();
  }
  --state->threads;
  state->mutex.unlock();
}

}  // namespace cuda_runtime::cpu
