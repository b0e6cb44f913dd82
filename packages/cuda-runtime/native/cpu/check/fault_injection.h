// Faults on demand, for tests: calls that fail, kernels that lose the device, operations that take
// longer, wake-ups that get lost. Without rules it costs one relaxed load a call or an operation.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/check/device_loss.h"
#include "core/work.h"

namespace cuda_runtime::cpu {

class FaultInjection {
 public:
  /// Adds a rule: JSON of `NativeFaultRule` in src/native/binding.ts.
  core::Status add(const core::JsonValue& rule);
  /// Throws the StatusException of a rule for this call, or that the device is lost.
  void enter(const char* call);
  /// Throws if the device is lost.
  void require() const;
  /// As `enter`, but returns the Status.
  core::Status check(const char* call);
  /// Before an operation runs: nanoseconds by which it is late. A rule may lose the device.
  int64_t before(const core::Work& work);
  /// Whether a wake-up of waiting threads is to be left out.
  bool drops_wakeup();
  const core::DeviceLoss& loss() const { return loss_; }
  core::DeviceLoss& loss() { return loss_; }

 private:
  struct Rule {
    std::string kind;  // "call", "kernel" or "delay"
    std::string name;  // call, kernel or operation; empty: any
    uint64_t after = 0;
    std::string code;
    int number = 0;
    std::string detail;
    int64_t delay_ns = 0;
  };
  bool is_due(Rule& rule, const char* kind, const std::string& name);

  core::DeviceLoss loss_;
  std::atomic<bool> armed_{false};
  std::atomic<int64_t> dropped_{0};
  core::Mutex mutex_;
  std::vector<Rule> rules_;
};

}  // namespace cuda_runtime::cpu
