// Files whose bytes the kernel copies out of a mapping: cuts, ranges, a kernel that refuses.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/file/mapped_file.h"
#include "runner.h"

namespace crt_test {
namespace {

using cuda_runtime::core::MappedFile;
using cuda_runtime::core::make_ref;
using cuda_runtime::core::Ref;
using cuda_runtime::core::Status;

constexpr uint64_t kBytes = 100'000;

uint8_t byte_at(uint64_t i) { return static_cast<uint8_t>(i * 7 + i / 4096); }

/// A file of kBytes bytes that is gone after the test.
struct TemporaryFile {
  TemporaryFile() {
    descriptor = mkstemp(path);
    std::vector<uint8_t> bytes(kBytes);
    for (uint64_t i = 0; i < kBytes; ++i) bytes[i] = byte_at(i);
    CHECK(write(descriptor, bytes.data(), kBytes) == static_cast<ssize_t>(kBytes));
  }
  ~TemporaryFile() {
    close(descriptor);
    unlink(path);
  }
  char path[32] = "/tmp/crt-file-XXXXXX";
  int descriptor = -1;
};

bool gives_all(MappedFile& file) {
  std::vector<uint8_t> bytes(kBytes);
  if (!file.copy(0, bytes.data(), kBytes).ok()) return false;
  for (uint64_t i = 0; i < kBytes; ++i) {
    if (bytes[i] != byte_at(i)) return false;
  }
  return true;
}

/// Pages of files in this process's memory.
int64_t shared_pages() {
  std::FILE* const statm = std::fopen("/proc/self/statm", "r");
  long size = 0, resident = 0, shared = 0;
  CHECK(statm != nullptr && std::fscanf(statm, "%ld %ld %ld", &size, &resident, &shared) == 3);
  std::fclose(statm);
  return shared;
}

/// From here on process_vm_readv fails on this thread, as under a container's filter.
bool refuse_copies_on_this_thread() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{4, rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

TEST("files: ranges are checked, also those that overflow") {
  TemporaryFile temporary;
  MappedFile file(temporary.path, true);
  CHECK(file.open().ok());
  CHECK(file.bytes() == kBytes && file.is_mapped() && file.reason().empty());
  uint8_t byte = 0;
  CHECK(file.copy(kBytes, &byte, 1).fault().code == "CRT_ARGUMENT");
  CHECK(file.copy(UINT64_MAX, &byte, 2).fault().code == "CRT_ARGUMENT");
  CHECK(file.copy(1, &byte, UINT64_MAX).fault().code == "CRT_ARGUMENT");
  CHECK(file.copy(kBytes, nullptr, 0).ok());
  CHECK(gives_all(file));
}

TEST("files: a cut under the mapping is a fault with the byte, then the file is usable again") {
  TemporaryFile temporary;
  MappedFile file(temporary.path, true);
  CHECK(file.open().ok());
  for (const int64_t size : {int64_t{90'000}, int64_t{4096}, int64_t{1}, int64_t{0}}) {
    CHECK(ftruncate(temporary.descriptor, size) == 0);
    std::vector<uint8_t> bytes(kBytes);
    const Status status = file.copy(0, bytes.data(), kBytes);
    CHECK(!status.ok() && status.fault().code == "CRT_FILE_CUT" && status.fault().byte == size);
    CHECK(!status.ok() && status.fault().file == temporary.path);
    // Inside the last page, where the mapping has zeros behind the end.
    const Status near_end = file.copy(size > 0 ? size - 1 : 0, bytes.data(), 2);
    CHECK(!near_end.ok() && near_end.fault().byte == size);
  }
  CHECK(file.is_mapped());
}

TEST("files: where the kernel refuses copies out of a mapping they are reads, and it says so") {
  TemporaryFile temporary;
  MappedFile file(temporary.path, true);
  CHECK(file.open().ok());
  CHECK(gives_all(file) && file.is_mapped());
  bool is_refused = false;
  bool is_right = false;
  // A filter is for ever, so it gets a thread of its own.
  std::thread([&] {
    is_refused = refuse_copies_on_this_thread();
    is_right = gives_all(file);
  }).join();
  CHECK(is_refused && is_right && !file.is_mapped());
  CHECK_WITH(file.reason() == "process_vm_readv was refused: Operation not permitted",
             file.reason());
  CHECK(gives_all(file));
}

TEST("files: what was copied leaves this process's memory, and files above 2 GiB have all bytes") {
  TemporaryFile temporary;
  constexpr uint64_t kLarge = (uint64_t{5} << 30) + 3;  // holes but for both ends
  CHECK(ftruncate(temporary.descriptor, kLarge) == 0);
  CHECK(pwrite(temporary.descriptor, "end", 3, kLarge - 3) == 3);
  MappedFile file(temporary.path, true);
  CHECK(file.open().ok());
  char end[3] = {};
  CHECK(file.copy(kLarge - 3, reinterpret_cast<uint8_t*>(end), 3).ok());
  CHECK(std::string(end, 3) == "end");
  constexpr uint64_t kPiece = uint64_t{128} << 20;
  std::vector<uint8_t> bytes(kPiece);
  const int64_t before = shared_pages();
  CHECK(file.copy(0, bytes.data(), kPiece).ok());
  CHECK(bytes[99'999] == byte_at(99'999) && bytes[kPiece - 1] == 0 && file.is_mapped());
  CHECK((shared_pages() - before) * sysconf(_SC_PAGESIZE) < 32 << 20);
}

TEST("files: several threads copy from one at once, and one may cut it meanwhile") {
  TemporaryFile temporary;
  const Ref<MappedFile> file = make_ref<MappedFile>(temporary.path, true);
  CHECK(file->open().ok());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&wrong, file] {
      std::vector<uint8_t> bytes(kBytes);
      for (int i = 0; i < 200; ++i) {
        const Status status = file->copy(0, bytes.data(), kBytes);
        if (!status.ok() && status.fault().code != "CRT_FILE_CUT") ++wrong;
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    wrong += ftruncate(temporary.descriptor, i % 2 == 0 ? 5000 : kBytes) != 0;
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

}  // namespace crt_test
