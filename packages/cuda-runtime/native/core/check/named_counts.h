// How often what happened, by name, for `stats()`.
#pragma once

#include <map>
#include <string>

#include "core/base/json.h"
#include "core/base/mutex.h"

namespace cuda_runtime::core {

/// Counts by name: rows of the capture table, results of updates.
class NamedCounts {
 public:
  void add(const std::string& name) {
    LockGuard lock(mutex_);
    ++counts_[name];
  }
  /// As one JSON object.
  void write(JsonWriter& json) {
    LockGuard lock(mutex_);
    json.begin_object();
    for (const auto& [name, count] : counts_) json.field(name, count);
    json.end_object();
  }

 private:
  Mutex mutex_;
  std::map<std::string, uint64_t> counts_;
};

}  // namespace cuda_runtime::core
