// The fatbins of a kernel package, loaded and checked.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/module.h"
#include "cuda/device/device.h"

namespace cuda_runtime::cuda {

class CudaImage : public core::ModuleImage {
 public:
  /// Loads every fatbin that the manifest names, checks each kernel's layout against it, and touches
  /// each kernel, so that no first launch has to load code.
  static core::Status load(Device& device, const core::JsonValue& manifest,
                           const std::string& directory,
                           const std::vector<core::KernelLayout>& layouts,
                           std::unique_ptr<core::ModuleImage>& image);

  explicit CudaImage(Device& device) : device_(device) {}
  ~CudaImage() override;
  void* entry(const core::KernelLayout& layout) override;

 private:
  core::Status load_fatbin(const std::string& path);
  core::Status find_kernel(const core::KernelLayout& layout, cudaLibrary_t library,
                           const std::string& path);
  core::Status check_layout(const core::KernelLayout& layout, cudaLibrary_t library,
                            cudaKernel_t kernel, const std::string& path);
  core::Status check_limits(const core::KernelLayout& layout, cudaKernel_t kernel,
                            const std::string& path);

  Device& device_;
  std::map<std::string, cudaLibrary_t> libraries_;  // by file name
  std::map<std::string, cudaKernel_t> kernels_;
};

}  // namespace cuda_runtime::cuda
