#include "core/library/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace cuda_runtime::core {
namespace {

constexpr const char* kReplace =
    "Build it again with `pnpm run build:native` in the kernel package, or install its platform "
    "package again";

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#else
#error "add the ELF machine number"
#endif

class File {
 public:
  explicit File(const std::string& path) {
    struct stat facts {};
    // Opening a pipe would wait for its writer.
    if (stat(path.c_str(), &facts) != 0) return;
    if (!S_ISREG(facts.st_mode)) {
      errno = EINVAL;
      return;
    }
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    size_ = static_cast<uint64_t>(facts.st_size);
  }
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  uint64_t size() const { return size_; }
  bool holds(uint64_t offset, uint64_t bytes) const {
    return offset <= size_ && bytes <= size_ - offset;
  }
  bool read(uint64_t offset, void* to, size_t bytes) const {
    if (!holds(offset, bytes)) return false;
    auto* at = static_cast<char*>(to);
    while (bytes > 0) {
      const ssize_t count = pread(descriptor_, at, bytes, static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      at += count;
      offset += static_cast<uint64_t>(count);
      bytes -= static_cast<size_t>(count);
    }
    return true;
  }

 private:
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

Status damaged(const std::string& path, const std::string& why) {
  return Status::error("CRT_BAD_KERNEL_IMAGE", 0, path + " " + why, kReplace);
}

Status cut_short(const std::string& path, const File& file, const char* part,
                       uint64_t offset, uint64_t bytes) {
  const std::string end = bytes <= UINT64_MAX - offset ? std::to_string(offset + bytes) : "2^64";
  return damaged(path, std::string("is cut short or damaged: ") + part + " ends at byte " + end +
                           ", the file has " + std::to_string(file.size()) + " bytes");
}

Status check_header(const std::string& path, const Elf64_Ehdr& header) {
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return damaged(path, "is not an ELF file: it does not begin with 7f 45 4c 46");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return damaged(path, "is not a 64-bit little-endian ELF file: class " +
                             std::to_string(header.e_ident[EI_CLASS]) + ", data " +
                             std::to_string(header.e_ident[EI_DATA]));
  }
  if (header.e_machine != kMachine) {
    return damaged(path, "is for ELF machine " + std::to_string(header.e_machine) +
                             ", this process runs on " + std::to_string(kMachine));
  }
  if (header.e_type != ET_DYN) {
    return damaged(path, "is not a shared library: ELF type " + std::to_string(header.e_type) +
                             ", expected " + std::to_string(ET_DYN));
  }
  if (header.e_phnum == 0 || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return damaged(path, "has " + std::to_string(header.e_phnum) + " program headers of " +
                             std::to_string(header.e_phentsize) + " bytes, expected some of " +
                             std::to_string(sizeof(Elf64_Phdr)));
  }
  return {};
}

Status check_segments(const std::string& path, const File& file, const Elf64_Ehdr& header) {
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  const size_t bytes = segments.size() * sizeof(Elf64_Phdr);
  if (!file.read(header.e_phoff, segments.data(), bytes)) {
    return cut_short(path, file, "the program header table", header.e_phoff, bytes);
  }
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC) continue;
    if (file.holds(segment.p_offset, segment.p_filesz)) continue;
    return cut_short(path, file, "a segment", segment.p_offset, segment.p_filesz);
  }
  // The section headers come last in the file, so this finds what cuts only those.
  const uint64_t sections = uint64_t{header.e_shnum} * header.e_shentsize;
  if (header.e_shoff != 0 && !file.holds(header.e_shoff, sections)) {
    return cut_short(path, file, "the section header table", header.e_shoff, sections);
  }
  return {};
}

}  // namespace

Status check_elf_file(const std::string& path) {
  const File file(path);
  if (!file.is_open()) {
    return Status::error("CRT_NO_KERNEL_IMAGE", 0,
                               path + " cannot be read: " + std::strerror(errno), kReplace);
  }
  Elf64_Ehdr header{};
  if (!file.holds(0, sizeof header)) {
    return damaged(path, "is cut short or no ELF file: it has " + std::to_string(file.size()) +
                             " bytes, the ELF header alone has " + std::to_string(sizeof header));
  }
  if (!file.read(0, &header, sizeof header)) {
    return Status::error("CRT_NO_KERNEL_IMAGE", 0,
                               path + " cannot be read: " + std::strerror(errno), kReplace);
  }
  Status status = check_header(path, header);
  return status.ok() ? check_segments(path, file, header) : std::move(status);
}

}  // namespace cuda_runtime::core
