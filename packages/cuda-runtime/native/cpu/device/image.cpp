#include "cpu/device/image.h"

#include "cuda_runtime/abi.h"

namespace cuda_runtime::cpu {
namespace {

constexpr const char* kRebuild = "Rebuild the kernel package: pnpm run build:native";

core::Status layout_error(std::string detail) {
  return core::Status::error("CRT_PARAMS_LAYOUT", 0, std::move(detail), kRebuild);
}

core::Status check(const core::CpuLibrary& library, const std::string& path,
                   const std::vector<core::KernelLayout>& layouts) {
  const uint32_t* abi = library.number("crt_abi_version");
  if (abi == nullptr || *abi < CRT_ABI_OLDEST || *abi > CRT_ABI_VERSION) {
    return layout_error(path + " has ABI " + (abi == nullptr ? "none" : std::to_string(*abi)) +
                        ", this runtime takes " + std::to_string(CRT_ABI_OLDEST) + " to " +
                        std::to_string(CRT_ABI_VERSION));
  }
  for (const core::KernelLayout& layout : layouts) {
    const uint32_t* bytes = library.number(layout.name + "_params_bytes");
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
  std::unique_ptr<core::CpuLibrary> library;
  core::Status status = core::CpuLibrary::open(path, library);
  if (status.ok()) status = check(*library, path, layouts);
  if (status.ok()) image = std::make_unique<CpuImage>(std::move(library));
  return status;
}

}  // namespace cuda_runtime::cpu
