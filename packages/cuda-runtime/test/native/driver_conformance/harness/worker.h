// A second thread of a row: it does one call at a time, and stays the same thread between them.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace conformance {

class Worker {
 public:
  Worker() : thread_([this] { loop(); }) {}
  ~Worker() {
    run({});
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Returns when the thread has made the call. An empty call ends the thread.
  void run(std::function<void()> call) {
    std::unique_lock lock(mutex_);
    call_ = std::move(call);
    is_given_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !is_given_; });
  }

 private:
  void loop() {
    std::unique_lock lock(mutex_);
    for (bool goes_on = true; goes_on;) {
      changed_.wait(lock, [this] { return is_given_; });
      goes_on = static_cast<bool>(call_);
      if (goes_on) call_();
      is_given_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> call_;
  bool is_given_ = false;
  std::thread thread_;
};

}  // namespace conformance
