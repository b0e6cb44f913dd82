#include "cpu/check/fault_injection.h"

#include <algorithm>

#include "core/base/failure.h"

namespace cuda_runtime::cpu {

using core::LockGuard;
using core::Status;

Status FaultInjection::add(const core::JsonValue& json) {
  Rule rule;
  rule.kind = json["kind"].text();
  rule.name = json["name"].text();
  rule.after = static_cast<uint64_t>(json["after"].number_or(0));
  rule.code = json["code"].text();
  rule.number = static_cast<int>(json["number"].number_or(0));
  rule.detail = json["detail"].text();
  rule.delay_ns = static_cast<int64_t>(json["ms"].number_or(0) * 1e6);
  LockGuard lock(mutex_);
  if (rule.kind == "wakeups") {
    dropped_.store(static_cast<int64_t>(rule.after));
    return {};
  }
  if (rule.kind == "clear") {
    rules_.clear();
    dropped_.store(0);
  } else if (rule.kind == "call" || rule.kind == "kernel" || rule.kind == "delay") {
    rules_.push_back(std::move(rule));
  } else {
    return Status::argument("`kind` is `" + rule.kind +
                            "`, expected call, kernel, delay, wakeups or clear");
  }
  armed_.store(!rules_.empty(), std::memory_order_relaxed);
  return {};
}

// The caller holds the mutex. A rule lets `after` matches pass.
bool FaultInjection::is_due(Rule& rule, const char* kind, const std::string& name) {
  if (rule.kind != kind || (!rule.name.empty() && rule.name != name)) return false;
  if (rule.after == 0) return true;
  --rule.after;
  return false;
}

Status FaultInjection::check(const char* call) {
  if (loss_.is_lost()) return loss_.status();
  if (!armed_.load(std::memory_order_relaxed)) return {};
  LockGuard lock(mutex_);
  const std::string name = call;
  const auto due = std::find_if(rules_.begin(), rules_.end(),
                                [&](Rule& rule) { return is_due(rule, "call", name); });
  if (due == rules_.end()) return {};
  const Rule rule = std::move(*due);
  rules_.erase(due);  // each rule fails one call
  if (rule.code == "CRT_DEVICE_LOST") {
    loss_.lose(rule.number, rule.detail);
    return loss_.status();
  }
  return Status::error(rule.code.c_str(), rule.number, rule.detail, "A test injected this");
}

void FaultInjection::require() const {
  if (loss_.is_lost()) throw core::StatusException(loss_.status());
}

void FaultInjection::enter(const char* call) {
  Status status = check(call);
  if (!status.ok()) throw core::StatusException(std::move(status));
}

int64_t FaultInjection::before(const core::Work& work) {
  if (!armed_.load(std::memory_order_relaxed)) return 0;
  LockGuard lock(mutex_);
  const std::string name = work.label();
  int64_t late_ns = 0;
  for (Rule& rule : rules_) {
    if (is_due(rule, "delay", name)) late_ns += rule.delay_ns;
    if (work.kind == core::WorkKind::kKernel && is_due(rule, "kernel", name)) {
      loss_.lose(rule.number, rule.detail);
    }
  }
  return late_ns;
}

bool FaultInjection::drops_wakeup() {
  if (dropped_.load(std::memory_order_relaxed) <= 0) return false;
  return dropped_.fetch_sub(1) > 0;
}

}  // namespace cuda_runtime::cpu
