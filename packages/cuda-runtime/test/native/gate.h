// A gate that holds a stream: tests wait for events, not for times.
#pragma once

#include <atomic>
#include <cstring>
#include <thread>

#include "core/base/clock.h"
#include "core/graph/nodes/host_function.h"
#include "fixture.h"

namespace crt_test {

/// A host function that holds its stream until the gate opens, for 20 seconds at most.
class Gate {
 public:
  Gate() : function_(make_ref<HostFunction>("gate", wait)) {
    Gate* const pointer = this;
    std::memcpy(function_->params.resize(sizeof pointer), &pointer, sizeof pointer);
  }
  void hold(Stream& stream) { OK(host(stream, function_)); }
  void open() { is_open_.store(true); }

 private:
  static void wait(const void* params) {
    Gate* gate = nullptr;
    std::memcpy(&gate, params, sizeof gate);
    const int64_t end = now_ns() + 20'000'000'000;
    while (!gate->is_open_.load() && now_ns() < end) std::this_thread::yield();
  }

  const Ref<HostFunction> function_;
  std::atomic<bool> is_open_{false};
};

}  // namespace crt_test
