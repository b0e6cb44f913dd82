#include "core/base/live_records.h"

namespace cuda_runtime::core {

LiveRecords& LiveRecords::of_process() {
  static auto* const records = new LiveRecords();
  return *records;
}

void LiveRecords::add(Record& record) {
  List& list = lists_[static_cast<size_t>(record.kind())];
  LockGuard lock(list.mutex);
  record.next_live_ = list.first;
  if (list.first != nullptr) list.first->previous_live_ = &record;
  list.first = &record;
  ++list.count;
}

void LiveRecords::remove(Record& record) {
  List& list = lists_[static_cast<size_t>(record.kind())];
  LockGuard lock(list.mutex);
  Record* const next = record.next_live_;
  Record* const previous = record.previous_live_;
  if (next != nullptr) next->previous_live_ = previous;
  (previous != nullptr ? previous->next_live_ : list.first) = next;
  --list.count;
}

uint64_t LiveRecords::count(Kind kind) {
  List& list = lists_[static_cast<size_t>(kind)];
  LockGuard lock(list.mutex);
  return list.count;
}

}  // namespace cuda_runtime::core
