// Records on their way from one environment to another. A token names a record once: for whoever
// imports it, or until the environment that exported it ends.
#pragma once

#include <string>
#include <unordered_map>

#include "core/base/mutex.h"
#include "core/base/record.h"
#include "core/base/status.h"

namespace cuda_runtime::core {

class ExportedRecords {
 public:
  /// Never destroyed, like the table of handles.
  static ExportedRecords& instance();

  /// A fresh token; `owner` is the environment that exports.
  std::string add(Ref<Record> record, uint64_t owner);
  /// What the token names, which stays valid.
  Status find(const std::string& token, Ref<Record>& record);
  /// The token was used; an error when somebody else was quicker.
  Status remove(const std::string& token);
  void remove_owner(uint64_t owner);
  /// Visits what tokens name, and who exported it, under the lock.
  template <typename Visitor>
  void visit(Visitor visitor) {
    LockGuard lock(mutex_);
    for (const auto& [token, entry] : entries_) visitor(*entry.record, entry.owner);
  }

 private:
  struct Entry {
    Ref<Record> record;
    uint64_t owner = 0;
  };
  Mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace cuda_runtime::core
