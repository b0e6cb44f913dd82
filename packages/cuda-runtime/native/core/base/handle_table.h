// The process-wide table from 32-bit handles to records. A handle's low 28 bits come from a
// counter, so that a stale handle names nothing until 2^28 others were made.
#pragma once

#include <functional>
#include <memory>

#include "core/base/mutex.h"
#include "core/base/record.h"
#include "core/base/status.h"

namespace cuda_runtime::core {

using Handle = uint32_t;

class HandleTable {
 public:
  static HandleTable& instance();

  /// `owner` is the environment whose end releases the handle.
  Handle add(Ref<Record> record, uint64_t owner);
  /// The record of a live handle of this kind.
  Status find(Handle handle, Kind kind, Ref<Record>& record);
  /// Drops the handle; unknown or stale handles are an error.
  Status remove(Handle handle);
  /// Drops every handle of an environment that ends.
  void remove_owner(uint64_t owner);
  /// Visits all live handles under the table's lock.
  void visit(const std::function<void(Handle, const Record&)>& visitor);

  template <typename T>
  Status get(Handle handle, Ref<T>& typed) {
    Ref<Record> record;
    Status status = find(handle, T::kKind, record);
    if (status.ok()) typed = Ref<T>(static_cast<T*>(record.get()));
    return status;
  }

 private:
  static constexpr uint32_t kPageBits = 12;
  static constexpr uint32_t kPageSize = 1u << kPageBits;
  static constexpr uint32_t kPages = 1u << (28 - kPageBits);
  static constexpr uint32_t kIndexMask = (1u << 28) - 1;

  struct Entry {
    Ref<Record> record;
    uint64_t owner = 0;
  };
  struct Page {
    Entry entries[kPageSize];
    uint32_t used = 0;
  };

  Entry* entry(Handle handle);
  Ref<Record> take(uint32_t index);

  Mutex mutex_;
  uint32_t next_ = 1;
  std::unique_ptr<Page> pages_[kPages];
};

}  // namespace cuda_runtime::core
