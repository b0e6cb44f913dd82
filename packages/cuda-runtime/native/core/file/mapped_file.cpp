#include "core/file/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/base/live_records.h"

namespace cuda_runtime::core {
namespace {

// The kernel moves less than 2 GiB in one call; what a call copied stays mapped until it is done.
constexpr uint64_t kMostPerCall = uint64_t{16} << 20;

std::string text_of(int error) { return std::generic_category().message(error); }

std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

MappedFile::MappedFile(std::string path, bool is_mapped)
    : Record(Kind::kMappedFile),
      path_(std::move(path)),
      refusal_(is_mapped ? 0 : static_cast<uint32_t>(kNotAsked) << 16) {
  LiveRecords::of_process().add(*this);
}

MappedFile::~MappedFile() {
  LiveRecords::of_process().remove(*this);
  if (mapping_ != nullptr) munmap(mapping_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

Status MappedFile::open() {
  // Without O_NONBLOCK a pipe would be waited for until somebody writes to it.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat facts {};
  if (descriptor_ < 0 || fstat(descriptor_, &facts) != 0) {
    const int error = errno;
    return fault("CRT_FILE_OPEN", "`" + path_ + "` cannot be opened: " + text_of(error),
                 "Check the path and its permissions", error);
  }
  if (!S_ISREG(facts.st_mode)) {
    return fault("CRT_FILE_OPEN",
                 "`" + path_ + "` is " + kind_of(facts.st_mode) + ", expected a regular file",
                 "Pass the path of a file", S_ISDIR(facts.st_mode) ? EISDIR : 0);
  }
  bytes_ = static_cast<uint64_t>(facts.st_size);
  if (!is_mapped()) return {};
  if (bytes_ == 0) {
    refuse(kEmpty, 0);
    return {};
  }
  // Private: some file systems refuse shared mappings, and nothing is written.
  void* const mapping = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  if (mapping == MAP_FAILED) {
    refuse(kMapRefused, errno);
  } else {
    mapping_ = mapping;
  }
  return {};
}

Status MappedFile::check_range(uint64_t offset, uint64_t bytes) const {
  if (offset <= bytes_ && bytes <= bytes_ - offset) return {};
  return Status::argument(std::to_string(bytes) + " bytes from byte " + std::to_string(offset) +
                              " on do not lie in the " + std::to_string(bytes_) + " of `" + path_ +
                              "`",
                          "Ask for a range of the file");
}

Status MappedFile::copy(uint64_t offset, uint8_t* to, uint64_t bytes) {
  Status status = check_range(offset, bytes);
  for (uint64_t done = 0; status.ok() && done < bytes;) {
    const uint64_t piece = std::min(bytes - done, kMostPerCall);
    uint64_t count = is_mapped() ? copy_from_mapping(offset + done, to + done, piece) : 0;
    // What the mapping does not give is asked of the file, which gives it or says why not.
    if (count == 0) status = read(offset + done, to + done, piece, count);
    done += count;
  }
  // The last page of a file that was cut is still there, with zeros behind the end.
  return status.ok() && bytes > 0 ? check_end(offset + bytes) : std::move(status);
}

// The count of copied bytes; 0 when the page at `offset` is gone or the kernel refuses such copies.
uint64_t MappedFile::copy_from_mapping(uint64_t offset, uint8_t* to, uint64_t bytes) {
  const iovec local{to, bytes};
  const iovec remote{static_cast<uint8_t*>(mapping_) + offset, bytes};
  ssize_t count = 0;
  do {
    count = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  } while (count < 0 && errno == EINTR);
  if (count > 0) {
    forget(offset, static_cast<uint64_t>(count));
    return static_cast<uint64_t>(count);
  }
  if (count < 0 && errno != EFAULT) refuse(kCopyRefused, errno);
  return 0;
}

// Takes the pages of a copy out of our page table; they stay in the page cache. Else this process's
// memory would seem to grow with the file, and `munmap` of it would hold up the JavaScript thread.
void MappedFile::forget(uint64_t offset, uint64_t bytes) {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = offset / page * page;
  madvise(static_cast<uint8_t*>(mapping_) + begin, offset + bytes - begin, MADV_DONTNEED);
}

Status MappedFile::read(uint64_t offset, uint8_t* to, uint64_t bytes, uint64_t& count) {
  ssize_t result = 0;
  do {
    result = pread(descriptor_, to, bytes, static_cast<off_t>(offset));
  } while (result < 0 && errno == EINTR);
  if (result < 0) return unreadable(offset, errno);
  if (result == 0) return cut_at(offset);
  count = static_cast<uint64_t>(result);
  return {};
}

Status MappedFile::check_end(uint64_t end) const {
  struct stat facts {};
  if (fstat(descriptor_, &facts) != 0) return unreadable(end, errno);
  return static_cast<uint64_t>(facts.st_size) >= end ? Status() : cut_at(end);
}

// The file ends at `byte` or before.
Status MappedFile::cut_at(uint64_t byte) const {
  struct stat facts {};
  if (fstat(descriptor_, &facts) != 0) return unreadable(byte, errno);
  const uint64_t size = std::min(byte, static_cast<uint64_t>(facts.st_size));
  Status status = fault("CRT_FILE_CUT",
                        "`" + path_ + "` ends at byte " + std::to_string(size) + ", it had " +
                            std::to_string(bytes_) + " when it was opened",
                        "Leave a file as it is until its last copy is done", 0);
  status.fault().byte = static_cast<int64_t>(size);
  return status;
}

Status MappedFile::unreadable(uint64_t byte, int error) const {
  Status status = fault("CRT_FILE_READ",
                        "`" + path_ + "` cannot be read at byte " + std::to_string(byte) + ": " +
                            text_of(error),
                        "Check the disk or the network share", error);
  status.fault().byte = static_cast<int64_t>(byte);
  return status;
}

Status MappedFile::fault(const char* code, std::string detail, const char* hint,
                         int error) const {
  Status status = Status::error(code, 0, std::move(detail), hint);
  status.fault().file = path_;
  status.fault().system_error = error;
  return status;
}

void MappedFile::refuse(Refusal refusal, int error) {
  refusal_.store(static_cast<uint32_t>(refusal) << 16 | static_cast<uint32_t>(error),
                 std::memory_order_relaxed);
}

std::string MappedFile::reason() const {
  const uint32_t refusal = refusal_.load(std::memory_order_relaxed);
  const std::string error = text_of(static_cast<int>(refusal & 0xFFFF));
  switch (refusal >> 16) {
    case kNotAsked:
      return "it was opened with access 'read'";
    case kEmpty:
      return "the file is empty, there is nothing to map";
    case kMapRefused:
      return "mmap was refused: " + error;
    case kCopyRefused:
      return "process_vm_readv was refused: " + error;
    default:
      return "";
  }
}

}  // namespace cuda_runtime::core
