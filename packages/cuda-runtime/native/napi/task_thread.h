// Work that takes longer than the JavaScript thread should be held up: instantiating graphs,
// loading modules, opening backends. One thread for the process, so that such work runs one after
// another.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>

#include "core/base/hold_note.h"
#include "core/base/mutex.h"
#include "core/base/record.h"
#include "core/base/status.h"
#include "core/stream/completion_sink.h"

namespace cuda_runtime::napi {

class TaskThread {
 public:
  /// Never destroyed: the thread may still run while the process ends.
  static TaskThread& instance();

  /// Runs `work` behind what was given before; an error when the system gives no thread.
  core::Status run(std::function<void()> work);

 private:
  struct State;
  static void thread_main(std::shared_ptr<State> state);
  TaskThread();

  const std::shared_ptr<State> state_;
};

/// What the tasks of one environment made, until JavaScript takes it.
class TaskResults : public core::RefCounted {
 public:
  /// A task begins; `held` lives until it is settled.
  void begin(int64_t token, std::shared_ptr<void> held);
  /// It made a record; dropped when nobody waits for it any more.
  void finish(int64_t token, core::Ref<core::Record> made);
  /// Ends the task and takes what it made; null when it failed.
  core::Ref<core::Record> settle(int64_t token);
  /// The environment ends: nothing is kept from now on.
  void close();

 private:
  struct Result {
    core::Ref<core::Record> made;
    core::HoldNote note;  // of `made`
    std::shared_ptr<void> held;
  };
  core::Mutex mutex_;
  bool is_closed_ = false;
  std::unordered_map<int64_t, Result> results_;
};

/// A task whose result is a record.
struct TaskRequest {
  core::Ref<TaskResults> results;
  core::Ref<core::CompletionSink> sink;  // told `token` when the task is over, with its failure
  int64_t token = 0;
  const char* api = "";
  std::shared_ptr<void> held;  // until JavaScript has settled the task
  std::function<core::Status(core::Ref<core::Record>&)> work;
};

/// Starts it on the task thread.
core::Status start_task(TaskRequest request);

}  // namespace cuda_runtime::napi
