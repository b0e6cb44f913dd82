#include "core/base/exported_records.h"

#include <sys/random.h>

#include <vector>

#include "core/base/failure.h"

namespace cuda_runtime::core {
namespace {

Status unknown_token() {
  return Status::error("CRT_DISPOSED", kInvalidResourceHandle,
                       "no exported object has this token: it was imported before, its exporter "
                       "ended, or it is no token",
                       "Export the object once for each import, and keep the exporting thread "
                       "until the import");
}

// Not guessable, so that a token is proof that somebody passed it on.
std::string fresh_token() {
  uint8_t bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
    throw StatusException(Status::error("CRT_INTERNAL", 0, "the system gives no random bytes"));
  }
  std::string token = "crt-";
  for (const uint8_t byte : bytes) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

}  // namespace

ExportedRecords& ExportedRecords::instance() {
  static auto* const records = new ExportedRecords();
  return *records;
}

std::string ExportedRecords::add(Ref<Record> record, uint64_t owner) {
  std::string token = fresh_token();
  LockGuard lock(mutex_);
  entries_[token] = {std::move(record), owner};
  return token;
}

Status ExportedRecords::find(const std::string& token, Ref<Record>& record) {
  LockGuard lock(mutex_);
  const auto found = entries_.find(token);
  if (found == entries_.end()) return unknown_token();
  record = found->second.record;
  return {};
}

Status ExportedRecords::remove(const std::string& token) {
  Ref<Record> last;
  LockGuard lock(mutex_);
  const auto found = entries_.find(token);
  if (found == entries_.end()) return unknown_token();
  last = std::move(found->second.record);
  entries_.erase(found);
  return {};
}

void ExportedRecords::remove_owner(uint64_t owner) {
  std::vector<Ref<Record>> dropped;  // released after the lock
  LockGuard lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->second.owner != owner) {
      ++entry;
      continue;
    }
    dropped.push_back(std::move(entry->second.record));
    entry = entries_.erase(entry);
  }
}

}  // namespace cuda_runtime::core
