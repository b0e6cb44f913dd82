#include "core/library/cpu_library.h"

#include <dlfcn.h>

#include "core/library/elf_file.h"

namespace cuda_runtime::core {

Status CpuLibrary::open(const std::string& path, std::unique_ptr<CpuLibrary>& library) {
  Status whole = check_elf_file(path);
  if (!whole.ok()) return whole;
  void* opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    const char* why = dlerror();
    return Status::error("CRT_NO_KERNEL_IMAGE", 0,
                         path + " cannot be loaded: " + (why != nullptr ? why : "unknown"),
                         "Rebuild the kernel package: pnpm run build:native");
  }
  library = std::make_unique<CpuLibrary>(opened);
  return {};
}

CpuLibrary::~CpuLibrary() { dlclose(library_); }

void* CpuLibrary::symbol(const std::string& name) const { return dlsym(library_, name.c_str()); }

void* CpuLibrary::host_entry(const HostLayout& layout) const {
  const uint32_t* bytes = number(layout.name + "_params_bytes");
  return bytes != nullptr && *bytes == layout.bytes ? symbol(layout.name) : nullptr;
}

}  // namespace cuda_runtime::core
