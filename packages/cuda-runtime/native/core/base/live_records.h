// Records that are alive, with or without a handle, as one list for each kind.
#pragma once

#include <array>

#include "core/base/mutex.h"
#include "core/base/record.h"

namespace cuda_runtime::core {

class LiveRecords {
 public:
  /// Of records that belong to no runtime. Never destroyed, like the table of handles.
  static LiveRecords& of_process();

  /// Last in the constructor: whoever visits the record reads it.
  void add(Record& record);
  /// In the destructor's body: until it returns somebody may visit the record.
  void remove(Record& record);
  uint64_t count(Kind kind);

  /// Visits the records of a kind that somebody holds. None of them ends meanwhile, since its
  /// destructor waits, and none is retained, so that a look changes no lifetime. The visitor may
  /// take no lock under which a record could be released.
  template <typename Visitor>
  void visit(Kind kind, Visitor visitor) {
    List& list = lists_[static_cast<size_t>(kind)];
    LockGuard lock(list.mutex);
    for (const Record* record = list.first; record != nullptr; record = record->next_live_) {
      if (record->references() > 0) visitor(*record);
    }
  }

 private:
  // A cache line each: threads that make buffers and threads that make events do not meet.
  struct alignas(64) List {
    Mutex mutex;
    Record* first = nullptr;
    uint64_t count = 0;
  };

  std::array<List, kKinds> lists_;
};

}  // namespace cuda_runtime::core
