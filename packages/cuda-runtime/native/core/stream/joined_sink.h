// Many completions as one: the last of them posts, with the first failure.
#pragma once

#include <string>
#include <utility>

#include "core/base/mutex.h"
#include "core/stream/completion_sink.h"

namespace cuda_runtime::core {

class JoinedSink : public CompletionSink {
 public:
  /// Posts `token` to `sink`. Waits for one completion more than are expected: `post` it when all
  /// are.
  JoinedSink(Ref<CompletionSink> sink, int64_t token) : sink_(std::move(sink)), token_(token) {}

  /// One more is to come.
  void add() {
    LockGuard lock(mutex_);
    ++open_;
  }
  void post(int64_t, std::string status) override {
    std::string first;
    {
      LockGuard lock(mutex_);
      if (first_.empty()) first_ = std::move(status);
      if (--open_ > 0) return;
      first = std::move(first_);
    }
    sink_->post(token_, std::move(first));
  }
  void stage(int64_t, std::unique_ptr<StagedBytes>) override {}
  void expect(int64_t, Ref<Runtime> runtime, Ref<Ticket> ticket) override {
    sink_->expect(token_, std::move(runtime), std::move(ticket));
  }

 private:
  const Ref<CompletionSink> sink_;
  const int64_t token_;
  Mutex mutex_;
  int open_ = 1;
  std::string first_;
};

}  // namespace cuda_runtime::core
