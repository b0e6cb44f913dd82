#include "core/base/hold_note.h"

#include <unordered_map>

#include "core/base/mutex.h"

namespace cuda_runtime::core {
namespace {

struct Note {
  const char* holder = "";
  uint64_t record_id = 0;
};

struct Notes {
  Mutex mutex;
  uint64_t last = 0;
  std::unordered_map<uint64_t, Note> by_number;
};

// Never destroyed, like the table of handles.
Notes& notes() {
  static auto* const instance = new Notes();
  return *instance;
}

}  // namespace

HoldNote::HoldNote(const char* holder, const Record& record) {
  LockGuard lock(notes().mutex);
  notes().by_number[notes().last + 1] = {holder, record.record_id()};
  number_ = ++notes().last;
}

HoldNote::~HoldNote() {
  if (number_ == 0) return;
  LockGuard lock(notes().mutex);
  notes().by_number.erase(number_);
}

void HoldNote::visit(
    const std::function<void(const char* holder, uint64_t record_id)>& visitor) {
  LockGuard lock(notes().mutex);
  for (const auto& [number, note] : notes().by_number) visitor(note.holder, note.record_id);
}

}  // namespace cuda_runtime::core
