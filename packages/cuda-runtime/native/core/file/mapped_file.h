// A regular file, mapped for reading, whose bytes only the kernel touches.
//
// A load from a mapped page that the file no longer has raises SIGBUS, which ends the process. So
// no code of ours dereferences the mapping: process_vm_readv on our own process id copies out of
// it, and answers EFAULT for such a page. pread then tells why.
#pragma once

#include <atomic>
#include <string>

#include "core/base/record.h"
#include "core/base/status.h"

namespace cuda_runtime::core {

class MappedFile : public Record {
 public:
  static constexpr Kind kKind = Kind::kMappedFile;

  /// Touches no file yet. Without `is_mapped` every copy is a pread.
  MappedFile(std::string path, bool is_mapped);
  ~MappedFile() override;

  /// Opens, checks and maps; once, before any other call. May wait for the disk.
  Status open();
  /// Fills `to` with the bytes from `offset` on; from any thread, several at a time. A failure has
  /// code, file, byte and the system's error number.
  Status copy(uint64_t offset, uint8_t* to, uint64_t bytes);
  /// `CRT_ARGUMENT` unless the range lies in the file as it was when it was opened.
  Status check_range(uint64_t offset, uint64_t bytes) const;

  const std::string& path() const { return path_; }
  uint64_t bytes() const { return bytes_; }
  bool is_mapped() const { return refusal_.load(std::memory_order_relaxed) == 0; }
  /// Why copies are reads; empty while they come out of the mapping.
  std::string reason() const;

 private:
  // What keeps copies from the mapping, in the upper half of `refusal_`; the lower is an errno.
  enum Refusal : uint32_t { kNotAsked = 1, kEmpty = 2, kMapRefused = 3, kCopyRefused = 4 };

  void refuse(Refusal refusal, int error);
  uint64_t copy_from_mapping(uint64_t offset, uint8_t* to, uint64_t bytes);
  void forget(uint64_t offset, uint64_t bytes);
  Status read(uint64_t offset, uint8_t* to, uint64_t bytes, uint64_t& count);
  Status check_end(uint64_t end) const;
  Status cut_at(uint64_t byte) const;
  Status fault(const char* code, std::string detail, const char* hint, int error) const;
  Status unreadable(uint64_t byte, int error) const;

  const std::string path_;
  int descriptor_ = -1;
  uint64_t bytes_ = 0;
  void* mapping_ = nullptr;
  std::atomic<uint32_t> refusal_;
};

}  // namespace cuda_runtime::core
