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

  /// `owner` is the environment whose end releases the handle; `is_imported`: it got the record
  /// from another one.
  Handle add(Ref<Record> record, uint64_t owner, bool is_imported = false);
  /// The record of a live handle of this kind.
  Status find(Handle handle, Kind kind, Ref<Record>& record);
  /// Drops the handle; unknown or stale handles are an error.
  Status remove(Handle handle);
  /// Drops every handle of an environment that ends.
  void remove_owner(uint64_t owner);
  /// What a live handle is.
  struct Named {
    const Record& record;
    Handle handle = 0;
    uint64_t owner = 0;
    bool is_imported = false;
  };
  /// Visits all live handles under the table's lock.
  void visit(const std::function<void(const Named&)>& visitor);

  template <typename T>
  Status get(Handle handle, Ref<T>& typed) {
    Ref<T> found;
    {
      LockGuard lock(mutex_);
      found = Ref<T>(static_cast<T*>(live(handle, T::kKind)));
    }
    if (!found) return unknown(handle, T::kKind);
    typed = std::move(found);
    return {};
  }

  /// Several records under one lock. No reference may be released while it lives.
  class Lookup {
   public:
    Lookup() : table_(instance()), lock_(table_.mutex_) {}

    /// `typed` is null before; T's kind, or another one that is a T.
    template <typename T>
    Status get(Handle handle, Ref<T>& typed, Kind kind = T::kKind) {
      Record* const found = table_.live(handle, kind);
      if (found == nullptr) return unknown(handle, kind);
      typed = Ref<T>(static_cast<T*>(found));
      return {};
    }

   private:
    HandleTable& table_;
    const LockGuard lock_;
  };

 private:
  static constexpr uint32_t kPageBits = 12;
  static constexpr uint32_t kPageSize = 1u << kPageBits;
  static constexpr uint32_t kPages = 1u << (28 - kPageBits);
  static constexpr uint32_t kIndexMask = (1u << 28) - 1;

  struct Entry {
    Ref<Record> record;
    uint64_t owner : 63 = 0;
    uint64_t is_imported : 1 = 0;
  };
  struct Page {
    Entry entries[kPageSize];
    uint32_t used = 0;
  };

  Entry* entry(Handle handle) {
    const uint32_t index = handle & kIndexMask;
    Page* page = pages_[index >> kPageBits].get();
    if (page == nullptr) return nullptr;
    Entry& found = page->entries[index & (kPageSize - 1)];
    return found.record ? &found : nullptr;
  }
  /// The record of a live handle of this kind, or null.
  Record* live(Handle handle, Kind kind) {
    if (handle >> 28 != static_cast<uint32_t>(kind)) return nullptr;
    const Entry* const found = entry(handle);
    return found != nullptr && found->record->kind() == kind ? found->record.get() : nullptr;
  }
  static Status unknown(Handle handle, Kind kind);
  Ref<Record> take(uint32_t index);

  Mutex mutex_;
  uint32_t next_ = 1;
  std::unique_ptr<Page> pages_[kPages];
};

}  // namespace cuda_runtime::core
