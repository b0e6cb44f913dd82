#include "napi/task_thread.h"

#include <pthread.h>

#include <deque>

#include "core/base/failure.h"

namespace cuda_runtime::napi {

using core::LockGuard;
using core::Status;

struct TaskThread::State {
  core::Mutex mutex;
  core::Condition arrived;
  std::deque<std::function<void()>> queue;
  bool is_running = false;
};

TaskThread& TaskThread::instance() {
  static auto* thread = new TaskThread();
  return *thread;
}

TaskThread::TaskThread() : state_(std::make_shared<State>()) {}

Status TaskThread::run(std::function<void()> work) {
  LockGuard lock(state_->mutex);
  if (!state_->is_running) {
    state_->is_running = core::try_start_thread([state = state_] { thread_main(state); });
    if (!state_->is_running) {
      return Status::error("CRT_OOM", core::kMemoryAllocation,
                           "the system gives no thread for work beside JavaScript",
                           "Raise the limit of threads (ulimit -u, pids.max), or use the Sync call");
    }
  }
  state_->queue.push_back(std::move(work));
  state_->arrived.notify_one();
  return {};
}

void TaskThread::thread_main(std::shared_ptr<State> state) {
  pthread_setname_np(pthread_self(), "crt-tasks");
  state->mutex.lock();
  while (true) {
    while (state->queue.empty()) state->arrived.wait(state->mutex);
    std::function<void()> work = std::move(state->queue.front());
    state->queue.pop_front();
    state->mutex.unlock();
    work();
    work = nullptr;  // what it holds goes before the next wait
    state->mutex.lock();
  }
}

void TaskResults::begin(int64_t token, std::shared_ptr<void> held) {
  LockGuard lock(mutex_);
  if (!is_closed_) results_[token].held = std::move(held);
}

void TaskResults::finish(int64_t token, core::Ref<core::Record> made) {
  core::HoldNote note;
  if (made) note = core::HoldNote("promise", *made);
  LockGuard lock(mutex_);
  const auto found = results_.find(token);
  if (found == results_.end()) return;
  found->second.made = std::move(made);
  found->second.note = std::move(note);
}

core::Ref<core::Record> TaskResults::settle(int64_t token) {
  Result result;
  {
    LockGuard lock(mutex_);
    const auto found = results_.find(token);
    if (found == results_.end()) return nullptr;
    result = std::move(found->second);
    results_.erase(found);
  }
  return std::move(result.made);
}

void TaskResults::close() {
  std::unordered_map<int64_t, Result> dropped;
  LockGuard lock(mutex_);
  is_closed_ = true;
  dropped.swap(results_);
}

Status start_task(TaskRequest request) {
  request.results->begin(request.token, std::move(request.held));
  const core::Ref<TaskResults> results = request.results;
  const int64_t token = request.token;
  Status started = TaskThread::instance().run([task = std::move(request)] {
    std::string text;
    try {
      core::Ref<core::Record> made;
      const Status status = task.work(made);
      if (status.ok()) {
        task.results->finish(task.token, std::move(made));
      } else {
        text = core::to_json(status.fault(), task.api);
      }
    } catch (...) {
      try {
        text = core::to_json(core::status_of_exception().fault(), task.api);
      } catch (...) {
        text = core::kOutOfMemoryText;
      }
    }
    task.sink->post(task.token, std::move(text));
  });
  if (!started.ok()) results->settle(token);
  return started;
}

}  // namespace cuda_runtime::napi
