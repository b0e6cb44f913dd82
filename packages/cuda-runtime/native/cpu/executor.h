// The threads that run operations. A thread is added when a task is runnable and all are busy, so
// that kernels of two streams can meet on a machine with few cores; idle threads end after a while.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "core/base/mutex.h"
#include "cpu/operation.h"

namespace cuda_runtime::cpu {

enum class Schedule : uint8_t { kParallel, kSerial, kRandom, kAdversarial };

/// Runs tasks with `run`, which returns the task to continue with on the same thread, if any.
class Executor {
 public:
  using Run = std::function<Task(Task)>;

  Executor(Schedule schedule, uint64_t seed, uint32_t max_threads, Run run);
  /// Ends all threads; nothing may be queued or running, except the caller's own task.
  ~Executor();

  /// Makes the first thread, which stays; false when the system refuses. Without it nothing may be
  /// pushed; with it a thread that is refused later only means less at once.
  bool start();
  /// Queues the tasks, which stay where they are until they run.
  void push(LinkedList<Task>& tasks);
  /// Somebody waits for results: the adversarial schedule stops holding tasks back.
  void demand();
  /// A kernel is about to block inside; another thread may take its place.
  void begin_block();
  void end_block();

  bool continues_inline() const { return schedule_ == Schedule::kParallel; }
  bool is_single() const {
    return schedule_ == Schedule::kSerial || schedule_ == Schedule::kAdversarial;
  }
  uint32_t threads();

 private:
  struct State;
  static void thread_main(std::shared_ptr<State> state);
  bool add_thread();

  const Schedule schedule_;
  std::shared_ptr<State> state_;  // shared with threads that outlive the executor by an instant
};

}  // namespace cuda_runtime::cpu
