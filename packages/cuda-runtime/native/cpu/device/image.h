// lib<package>_cpu.so of a kernel package, opened and checked against the manifest.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/module.h"

namespace cuda_runtime::cpu {

class CpuImage : public core::ModuleImage {
 public:
  static core::Status load(const std::string& path, const std::vector<core::KernelLayout>& layouts,
                           std::unique_ptr<core::ModuleImage>& image);
  explicit CpuImage(void* library) : library_(library) {}
  ~CpuImage() override;
  void* entry(const core::KernelLayout& layout) override;

 private:
  void* const library_;
};

}  // namespace cuda_runtime::cpu
