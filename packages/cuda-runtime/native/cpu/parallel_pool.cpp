#include "cpu/parallel_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>

#include "core/base/clock.h"
#include "core/base/failure.h"
#include "core/base/mutex.h"

namespace cuda_runtime::cpu {
namespace {

using core::LockGuard;

constexpr int64_t kPiecesPerThread = 4;  // evens out pieces of different cost
constexpr int64_t kSpinNs = 20'000;

thread_local bool in_loop = false;

}  // namespace

/// One parallel loop; lives on its caller's stack.
struct ParallelPool::Loop {
  CpuLoopBody body;
  void* argument;
  int64_t count;
  int64_t piece;
  int64_t pieces;
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> done{0};
  uint32_t helpers = 0;  // pool threads inside; guarded by the pool's mutex, as is the next
  Loop* next_loop = nullptr;

  void work(std::atomic<uint64_t>& ended) {
    in_loop = true;
    for (int64_t i = next.fetch_add(1); i < pieces; i = next.fetch_add(1)) {
      body(argument, i * piece, std::min(count, (i + 1) * piece));
      done.fetch_add(1, std::memory_order_acq_rel);
      ended.fetch_add(1, std::memory_order_relaxed);
    }
    in_loop = false;
  }
};

struct ParallelPool::State {
  std::atomic<uint64_t> published{0};  // loops so far, for spinning threads
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> ended{0};  // pieces
  core::Mutex mutex;  // guards the following
  core::Condition work;
  core::Condition left;
  Loop* loops = nullptr;  // newest first; linked, since a kernel cannot report a lack of memory
  uint32_t parked = 0;

  Loop* pick() {
    for (Loop* loop = loops; loop != nullptr; loop = loop->next_loop) {
      if (loop->next.load(std::memory_order_relaxed) < loop->pieces) return loop;
    }
    return nullptr;
  }
  void remove(const Loop& loop) {
    Loop** place = &loops;
    while (*place != &loop) place = &(*place)->next_loop;
    *place = loop.next_loop;
  }
};

int64_t ParallelPool::piece_size(int64_t count, int64_t grain, uint32_t threads) {
  const int64_t wanted = static_cast<int64_t>(threads) * kPiecesPerThread;
  return std::max<int64_t>({grain, (count + wanted - 1) / wanted, 1});
}

ParallelPool::ParallelPool(uint32_t threads) : threads_(threads), state_(new State()) {
  while (started_ < threads &&
         core::try_start_thread([state = state_] { thread_main(state); })) {
    ++started_;
  }
}

ParallelPool::~ParallelPool() {
  LockGuard lock(state_->mutex);
  state_->stop.store(true);
  state_->work.notify_all();
}

uint64_t ParallelPool::progress() const { return state_->ended.load(std::memory_order_relaxed); }

void ParallelPool::run(int64_t count, int64_t grain, CpuLoopBody body, void* argument) {
  if (count <= 0) return;
  const int64_t piece = piece_size(count, grain, threads_);
  if (piece >= count || threads_ == 1 || in_loop) {
    // The same cut as in parallel: a body may keep one partial result per piece.
    for (int64_t begin = 0; begin < count; begin += piece) {
      body(argument, begin, std::min(count, begin + piece));
      state_->ended.fetch_add(1, std::memory_order_relaxed);
    }
    return;
  }
  Loop loop{body, argument, count, piece, (count + piece - 1) / piece};
  State& state = *state_;
  {
    LockGuard lock(state.mutex);
    loop.next_loop = state.loops;
    state.loops = &loop;
    state.published.fetch_add(1, std::memory_order_release);
    for (int64_t i = 1; i < loop.pieces && i <= state.parked; ++i) state.work.notify_one();
  }
  loop.work(state.ended);
  const int64_t end = core::now_ns() + kSpinNs;
  while (loop.done.load(std::memory_order_acquire) < loop.pieces && core::now_ns() < end) {
    core::cpu_pause();
  }
  LockGuard lock(state.mutex);
  state.remove(loop);
  while (loop.helpers > 0) state.left.wait(state.mutex);
}

void ParallelPool::thread_main(std::shared_ptr<State> state) {
  pthread_setname_np(pthread_self(), "crt-parallel");
  state->mutex.lock();
  while (!state->stop.load(std::memory_order_relaxed)) {
    const uint64_t seen = state->published.load(std::memory_order_relaxed);
    Loop* loop = state->pick();
    if (loop != nullptr) {
      ++loop->helpers;
      state->mutex.unlock();
      loop->work(state->ended);
      state->mutex.lock();
      if (--loop->helpers == 0) state->left.notify_all();
      continue;
    }
    state->mutex.unlock();
    const int64_t end = core::now_ns() + kSpinNs;
    while (state->published.load(std::memory_order_relaxed) == seen && core::now_ns() < end) {
      core::cpu_pause();
    }
    state->mutex.lock();
    if (state->pick() != nullptr || state->stop.load(std::memory_order_relaxed)) continue;
    ++state->parked;
    state->work.wait(state->mutex);
    --state->parked;
  }
  state->mutex.unlock();
}

}  // namespace cuda_runtime::cpu
