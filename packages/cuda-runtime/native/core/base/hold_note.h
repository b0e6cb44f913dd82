// Says to audits who holds a record where neither a handle nor another record does: a copy of a
// file, an array, a promise that is still to be settled.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "core/base/record.h"

namespace cuda_runtime::core {

/// Lives beside the reference that it is about, and holds nothing itself.
class HoldNote {
 public:
  HoldNote() = default;
  /// `holder` is a literal: who keeps the record. Throws bad_alloc.
  HoldNote(const char* holder, const Record& record);
  HoldNote(HoldNote&& other) noexcept : number_(std::exchange(other.number_, 0)) {}
  HoldNote& operator=(HoldNote other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~HoldNote();

  /// Visits all notes of the process, under their lock.
  static void visit(const std::function<void(const char* holder, uint64_t record_id)>& visitor);

 private:
  uint64_t number_ = 0;  // 0: none
};

}  // namespace cuda_runtime::core
