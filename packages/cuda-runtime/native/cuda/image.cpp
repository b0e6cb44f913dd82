#include "cuda/image.h"

#include <fstream>
#include <iterator>

#include "cuda/driver.h"
#include "cuda/launch_kernel.h"

namespace cuda_runtime::cuda {
namespace {

using core::JsonValue;
using core::KernelLayout;
using core::Status;

constexpr const char* kRebuild = "Rebuild the kernel package: pnpm run build:native";

Status layout_error(const KernelLayout& layout, const std::string& path, const std::string& what) {
  return Status::error("CRT_PARAMS_LAYOUT", 0,
                       "kernel " + layout.name + ": the manifest says that " + layout.struct_name +
                           " has " + std::to_string(layout.bytes) + " bytes, " + path + " " + what,
                       kRebuild);
}

}  // namespace

CudaImage::~CudaImage() {
  kernels_.clear();  // their executables go before the code that they run
  for (const auto& [file, library] : libraries_) device_.reaper().unload(library);
}

void* CudaImage::entry(const KernelLayout& layout) {
  const auto found = kernels_.find(layout.name);
  return found != kernels_.end() ? &found->second : nullptr;
}

// Host functions run on the host also here.
void* CudaImage::host_entry(const core::HostLayout& layout) {
  if (!cpu_library_ && !core::CpuLibrary::open(cpu_library_path_, cpu_library_).ok()) return nullptr;
  return cpu_library_->host_entry(layout);
}

Status CudaImage::load(Device& device, const ImageSource& source,
                       const std::vector<KernelLayout>& layouts,
                       std::unique_ptr<core::ModuleImage>& image) {
  const auto& [manifest, directory, launch_by_graph] = source;
  device.make_current();
  const RelaxedCapture relaxed;
  auto loaded = std::make_unique<CudaImage>(device, launch_by_graph);
  loaded->cpu_library_path_ = directory + "/" + manifest["cpu"].text();
  std::map<std::string, std::string> file_of;  // kernel → fatbin
  for (const JsonValue& kernel : manifest["kernels"].items) {
    if (!kernel["fatbin"].text().empty()) file_of[kernel["name"].text()] = kernel["fatbin"].text();
  }
  if (file_of.empty() && !layouts.empty()) {
    return Status::error("CRT_NO_KERNEL_IMAGE", core::kNoKernelImage,
                         "the package in " + directory + " has no kernels for CUDA",
                         "Build it on a machine with nvcc, or use the CPU backend");
  }
  for (const KernelLayout& layout : layouts) {
    const auto file = file_of.find(layout.name);
    if (file == file_of.end()) continue;  // CPU only; `module.kernel` says so
    const std::string path = directory + "/" + file->second;
    if (loaded->libraries_.count(path) == 0) {
      Status status = loaded->load_fatbin(path);
      if (!status.ok()) return status;
    }
    Status status = loaded->find_kernel(layout, loaded->libraries_[path], path);
    if (!status.ok()) return status;
  }
  image = std::move(loaded);
  return {};
}

Status CudaImage::load_fatbin(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file || bytes.empty()) {
    return Status::error("CRT_NO_KERNEL_IMAGE", core::kNoKernelImage, path + " cannot be read",
                         kRebuild);
  }
  // The first word of every fatbin; the driver is not asked about anything else.
  constexpr unsigned char kMagic[] = {0x50, 0xed, 0x55, 0xba};
  if (bytes.size() < 64 || !std::equal(std::begin(kMagic), std::end(kMagic), bytes.begin(),
                                       [](unsigned char a, char b) {
                                         return a == static_cast<unsigned char>(b);
                                       })) {
    return Status::error("CRT_BAD_KERNEL_IMAGE", 0, path + " is not a fatbin", kRebuild);
  }
  cudaLibrary_t library = nullptr;
  const cudaError_t error = cudaLibraryLoadData(&library, bytes.data(), nullptr, nullptr, 0,
                                                nullptr, nullptr, 0);
  if (error != cudaSuccess) return device_.fail(error, "loading " + path);
  libraries_[path] = library;
  return {};
}

Status CudaImage::find_kernel(const KernelLayout& layout, cudaLibrary_t library,
                              const std::string& path) {
  cudaKernel_t kernel = nullptr;
  const cudaError_t error = cudaLibraryGetKernel(&kernel, library, layout.name.c_str());
  if (error == cudaErrorSymbolNotFound) {
    cudaGetLastError();
    return Status::error("CRT_NO_SYMBOL", error, path + " has no kernel " + layout.name, kRebuild);
  }
  if (error != cudaSuccess) return device_.fail(error, "finding " + layout.name + " in " + path);
  Status status = check_layout(layout, library, kernel, path);
  uint64_t max_shared_bytes = 0;
  if (status.ok()) status = check_limits(layout, kernel, path, max_shared_bytes);
  CUfunction function = nullptr;
  if (status.ok()) status = function_of(kernel, function);
  if (!status.ok()) return status;
  // A graph's end is no programmatic event: what follows a kernel that triggers could not start
  // early.
  const bool has_graphs = launch_by_graph_ && !layout.triggers;
  auto graphs = has_graphs ? std::make_unique<KernelGraphs>(device_.reaper(),
                                                            device_.launches_by_graph())
                           : nullptr;
  kernels_[layout.name] = {kernel, max_shared_bytes, function, std::move(graphs)};
  return {};
}

// Twice: what the file's own symbol says, and what the driver reads from the code.
Status CudaImage::check_layout(const KernelLayout& layout, cudaLibrary_t library,
                               cudaKernel_t kernel, const std::string& path) {
  void* address = nullptr;
  size_t bytes = 0;
  const std::string symbol = layout.name + "_params_bytes";
  if (cudaLibraryGetGlobal(&address, &bytes, library, symbol.c_str()) != cudaSuccess ||
      bytes != sizeof(uint32_t)) {
    cudaGetLastError();
    return layout_error(layout, path, "does not know it");
  }
  uint32_t stated = 0;
  Status status = device_.read_back(&stated, address, sizeof stated);
  if (!status.ok()) return status;
  if (stated != layout.bytes) {
    return layout_error(layout, path, "says " + std::to_string(stated));
  }
  size_t offset = 0;
  size_t size = 0;
  const cudaError_t error = cudaFuncGetParamInfo(kernel, 0, &offset, &size);
  if (error != cudaSuccess) return device_.fail(error, "reading the parameters of " + layout.name);
  if (offset == 0 && size == layout.bytes) return {};
  return layout_error(layout, path,
                      "takes " + std::to_string(size) + " at offset " + std::to_string(offset));
}

Status CudaImage::check_limits(const KernelLayout& layout, cudaKernel_t kernel,
                               const std::string& path, uint64_t& max_shared_bytes) {
  cudaFuncAttributes attributes{};
  cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
  if (error != cudaSuccess) return device_.fail(error, "loading kernel " + layout.name);
  if (layout.block.product() > static_cast<uint64_t>(attributes.maxThreadsPerBlock)) {
    return Status::error("CRT_LAUNCH_CONFIG", core::kInvalidValue,
                         "kernel " + layout.name + ": the manifest allows blocks of " +
                             std::to_string(layout.block.product()) + " threads, " + path +
                             " was compiled for " + std::to_string(attributes.maxThreadsPerBlock),
                         kRebuild);
  }
  const int optin = static_cast<int>(device_.properties().sharedMemPerBlockOptin);
  const int dynamic = optin - static_cast<int>(attributes.sharedSizeBytes);
  error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic);
  if (error != cudaSuccess) {
    return device_.fail(error, "allowing shared memory for " + layout.name);
  }
  max_shared_bytes = static_cast<uint64_t>(dynamic);
  if (!device_.properties().clusterLaunch) return {};
  error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  return error == cudaSuccess ? Status()
                              : device_.fail(error, "allowing clusters for " + layout.name);
}

}  // namespace cuda_runtime::cuda
