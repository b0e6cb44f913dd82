// The fatbins of a kernel package, loaded and checked.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/library/cpu_library.h"
#include "cuda/device/device.h"
#include "cuda/kernel_graphs.h"

namespace cuda_runtime::cuda {

/// A kernel in both of the driver's forms.
struct KernelEntry {
  cudaKernel_t kernel = nullptr;  // graph nodes and attributes
  uint64_t max_shared_bytes = 0;  // dynamic: what its static shared memory leaves
  CUfunction function = nullptr;  // launches: a microsecond less than through the runtime library
  std::unique_ptr<KernelGraphs> graphs;  // null for kernels that trigger, and without `launch_by_graph`
};

/// Where an image comes from, and how its kernels are started.
struct ImageSource {
  const core::JsonValue& manifest;
  const std::string& directory;
  bool launch_by_graph;
};

class CudaImage : public core::ModuleImage {
 public:
  /// Loads every fatbin that the manifest names, checks each kernel's layout against it, and
  /// touches each kernel, so that no first launch has to load code.
  static core::Status load(Device& device, const ImageSource& source,
                           const std::vector<core::KernelLayout>& layouts,
                           std::unique_ptr<core::ModuleImage>& image);

  CudaImage(Device& device, bool launch_by_graph)
      : device_(device), launch_by_graph_(launch_by_graph) {}
  ~CudaImage() override;
  void* entry(const core::KernelLayout& layout) override;
  uint64_t max_shared_bytes(void* entry) const override {
    return static_cast<const KernelEntry*>(entry)->max_shared_bytes;
  }
  void* host_entry(const core::HostLayout& layout) override;

 private:
  core::Status load_fatbin(const std::string& path);
  core::Status find_kernel(const core::KernelLayout& layout, cudaLibrary_t library,
                           const std::string& path);
  core::Status check_layout(const core::KernelLayout& layout, cudaLibrary_t library,
                            cudaKernel_t kernel, const std::string& path);
  core::Status check_limits(const core::KernelLayout& layout, cudaKernel_t kernel,
                            const std::string& path, uint64_t& max_shared_bytes);

  Device& device_;
  const bool launch_by_graph_;
  std::string cpu_library_path_;
  std::unique_ptr<core::CpuLibrary> cpu_library_;  // opened for the first host function
  std::map<std::string, cudaLibrary_t> libraries_;  // by file name
  std::map<std::string, KernelEntry> kernels_;
};

}  // namespace cuda_runtime::cuda
