#include "core/base/handle_table.h"

#include <atomic>
#include <vector>

namespace cuda_runtime::core {

uint64_t next_record_id() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kBuffer:
      return "buffer";
    case Kind::kStream:
      return "stream";
    case Kind::kKernel:
      return "kernel";
    case Kind::kEvent:
      return "event";
    case Kind::kExec:
      return "graph executable";
    case Kind::kGraph:
      return "graph";
    case Kind::kRuntime:
      return "runtime";
    case Kind::kModule:
      return "module";
    case Kind::kHostBuffer:
      return "host buffer";
    case Kind::kMappedFile:
      return "file";
    case Kind::kCondition:
      return "condition";
    case Kind::kHostFunction:
      return "host function";
  }
  return "unknown record";
}

// Never destroyed: threads may still release references while the process ends.
HandleTable& HandleTable::instance() {
  static HandleTable* const table = new HandleTable();
  return *table;
}

Handle HandleTable::add(Ref<Record> record, uint64_t owner, bool is_imported) {
  const uint32_t kind = static_cast<uint32_t>(record->kind());
  Record& added = *record;
  LockGuard lock(mutex_);
  while (next_ == 0 || entry(next_) != nullptr) next_ = (next_ + 1) & kIndexMask;
  const uint32_t index = next_;
  next_ = (next_ + 1) & kIndexMask;
  std::unique_ptr<Page>& page = pages_[index >> kPageBits];
  if (page == nullptr) page = std::make_unique<Page>();
  page->entries[index & (kPageSize - 1)] = {std::move(record), owner, is_imported};
  ++page->used;
  added.on_handle_added();
  return (kind << 28) | index;
}

Status HandleTable::find(Handle handle, Kind kind, Ref<Record>& record) {
  Ref<Record> found;
  {
    LockGuard lock(mutex_);
    found = Ref<Record>(live(handle, kind));
  }
  if (!found) return unknown(handle, kind);
  record = std::move(found);
  return {};
}

Status HandleTable::unknown(Handle handle, Kind kind) {
  if (handle >> 28 == static_cast<uint32_t>(kind)) {
    return Status::error("CRT_DISPOSED", kInvalidResourceHandle,
                         std::string("the ") + kind_name(kind) + " was disposed",
                         "Keep it alive until its last use");
  }
  return Status::error("CRT_ARGUMENT", kInvalidResourceHandle,
                       std::string("expected the handle of a ") + kind_name(kind) +
                           ", got one of a " + kind_name(static_cast<Kind>(handle >> 28)),
                       std::string("Pass a ") + kind_name(kind));
}

Ref<Record> HandleTable::take(uint32_t index) {
  std::unique_ptr<Page>& page = pages_[index >> kPageBits];
  Ref<Record> record = std::move(page->entries[index & (kPageSize - 1)].record);
  if (--page->used == 0 && (next_ >> kPageBits) != (index >> kPageBits)) page.reset();
  return record;
}

Status HandleTable::remove(Handle handle) {
  Ref<Record> record;
  {
    LockGuard lock(mutex_);
    Entry* found = entry(handle);
    if (found == nullptr || static_cast<uint32_t>(found->record->kind()) != handle >> 28) {
      return Status::error("CRT_DISPOSED", kInvalidResourceHandle, "the handle was released before",
                           "Release a handle once");
    }
    record = take(handle & kIndexMask);
  }
  record->on_handle_released();
  return {};
}

void HandleTable::remove_owner(uint64_t owner) {
  std::vector<Ref<Record>> records;
  {
    LockGuard lock(mutex_);
    for (uint32_t p = 0; p < kPages; ++p) {
      for (uint32_t i = 0; pages_[p] != nullptr && i < kPageSize; ++i) {
        const Entry& found = pages_[p]->entries[i];
        if (found.record && found.owner == owner) records.push_back(take((p << kPageBits) | i));
      }
    }
  }
  for (Ref<Record>& record : records) record->on_handle_released();
}

void HandleTable::visit(const std::function<void(const Named&)>& visitor) {
  LockGuard lock(mutex_);
  for (uint32_t p = 0; p < kPages; ++p) {
    for (uint32_t i = 0; pages_[p] != nullptr && i < kPageSize; ++i) {
      const Entry& found = pages_[p]->entries[i];
      if (!found.record) continue;
      const Record& record = *found.record;
      const Handle handle = (static_cast<uint32_t>(record.kind()) << 28) | (p << kPageBits) | i;
      visitor({record, handle, found.owner, found.is_imported != 0});
    }
  }
}

}  // namespace cuda_runtime::core
