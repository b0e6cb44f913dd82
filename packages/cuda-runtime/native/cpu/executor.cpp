#include "cpu/executor.h"

#include <pthread.h>

#include <random>
#include <thread>

#include "core/base/clock.h"
#include "core/base/failure.h"

namespace cuda_runtime::cpu {
namespace {

using core::LockGuard;

constexpr int64_t kIdleNs = 5'000'000'000;        // an idle thread ends after this long, but the last
constexpr int64_t kSpinNs = 30'000;               // looks for work before it sleeps
constexpr int64_t kAdversarialHoldNs = 2'000'000;  // lets choices pile up

}  // namespace

struct Executor::State {
  State(Schedule s, uint64_t seed, uint32_t max, Run r)
      : schedule(s), max_threads(max), run(std::move(r)), random(seed), prefers_late(seed % 2) {}

  const Schedule schedule;
  const uint32_t max_threads;
  const Run run;
  std::atomic<uint32_t> queued{0};  // length of `queue`, also for spinning threads
  std::atomic<bool> stop{false};

  core::Mutex mutex;  // guards the following
  core::Condition work;
  core::Condition ended;
  LinkedList<Task> queue;
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
  Task* before = nullptr;  // the chosen one's predecessor
  const auto better = [&](const Task& a, const Task& b) {
    if (schedule == Schedule::kAdversarial && a.stream != b.stream) {
      return prefers_late ? a.stream > b.stream : a.stream < b.stream;
    }
    return a.order != b.order ? a.order < b.order : a.node < b.node;
  };
  if (schedule == Schedule::kRandom) {
    uint64_t skipped = random() % queued.load(std::memory_order_relaxed);
    for (; skipped > 0; --skipped) {
      before = before == nullptr ? queue.first() : before->next;
    }
  } else if (schedule != Schedule::kParallel) {
    const Task* best = queue.first();
    for (Task* task = queue.first(); task->next != nullptr; task = task->next) {
      if (!better(*task->next, *best)) continue;
      before = task;
      best = task->next;
    }
  }
  queued.fetch_sub(1, std::memory_order_relaxed);
  return queue.take_after(before);
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
  int64_t idle_end = core::now_ns() + kIdleNs;
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
    if (woken || !queue.empty() || core::now_ns() < idle_end) continue;
    if (threads > 1) return false;
    idle_end = core::now_ns() + kIdleNs;
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

bool Executor::start() {
  LockGuard lock(state_->mutex);
  return state_->threads > 0 || add_thread();
}

// The caller holds the mutex. A refusal is no failure: the threads that there are run everything.
bool Executor::add_thread() {
  if (!core::try_start_thread([state = state_] { thread_main(state); })) return false;
  ++state_->threads;
  return true;
}

void Executor::push(LinkedList<Task>& tasks) {
  if (tasks.empty()) return;
  uint32_t count = 0;
  for (const Task* task = tasks.first(); task != nullptr; task = task->next) ++count;
  State& state = *state_;
  LockGuard lock(state.mutex);
  state.queue.append_all(tasks);
  const uint32_t size = state.queued.fetch_add(count, std::memory_order_relaxed) + count;
  if (schedule_ == Schedule::kAdversarial) state.last_push_ns = core::now_ns();
  uint32_t wanted = size > state.spinning ? size - state.spinning : 0;
  for (uint32_t woken = 0; woken < state.parked && wanted > 0; ++woken, --wanted) {
    state.work.notify_one();
  }
  while (wanted > 0 && state.threads < state.max_threads + state.blocked) {
    if (!add_thread()) break;
    --wanted;
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
    add_thread();
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
