#include "cpu/device/image.h"

#include <dlfcn.h>

#include "cpu/device/elf_file.h"
#include "cuda_runtime/abi.h"

namespace cuda_runtime::cpu {
namespace {

constexpr const char* kRebuild = "Rebuild the kernel package: pnpm run build:native";

const uint32_t* symbol(void* library, const std::string& name) {
  return static_cast<const uint32_t*>(dlsym(library, name.c_str()));
}

core::Status layout_error(std::string detail) {
  return core::Status::error("CRT_PARAMS_LAYOUT", 0, std::move(detail), kRebuild);
}

core::Status check(void* library, const std::string& path,
                   const std::vector<core::KernelLayout>& layouts) {
  const uint32_t* abi = symbol(library, "crt_abi_version");
  if (abi == nullptr || *abi != CRT_ABI_VERSION) {
    return layout_error(path + " has ABI " + (abi == nullptr ? "none" : std::to_string(*abi)) +
                        ", this runtime " + std::to_string(CRT_ABI_VERSION));
  }
  for (const core::KernelLayout& layout : layouts) {
    const uint32_t* bytes = symbol(library, layout.name + "_params_bytes");
    if (bytes != nullptr && *bytes == layout.bytes) continue;
    return layout_error("kernel " + layout.name + ": the manifest says that " +
                        layout.struct_name + " has " + std::to_string(layout.bytes) +
                        " bytes, the library " +
                        (bytes == nullptr ? "does not know it" : "says " + std::to_string(*bytes)));
  }
  return {};
}

}  // namespace

core::Status CpuImage::load(const std::string& path,
                            const std::vector<core::KernelLayout>& layouts,
                            std::unique_ptr<core::ModuleImage>& image) {
  core::Status whole = check_elf_file(path);
  if (!whole.ok()) return whole;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    return core::Status::error("CRT_NO_KERNEL_IMAGE", 0,
                               path + " cannot be loaded: " + (why != nullptr ? why : "unknown"),
                               kRebuild);
  }
  auto loaded = std::make_unique<CpuImage>(library);
  core::Status status = check(library, path, layouts);
  if (status.ok()) image = std::move(loaded);
  return status;
}

CpuImage::~CpuImage() { dlclose(library_); }

void* CpuImage::entry(const core::KernelLayout& layout) {
  return dlsym(library_, layout.entry.c_str());
}

}  // namespace cuda_runtime::cpu
