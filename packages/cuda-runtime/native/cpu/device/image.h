// lib<package>_cpu.so of a kernel package, opened and checked against the manifest.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/library/cpu_library.h"

namespace cuda_runtime::cpu {

class CpuImage : public core::ModuleImage {
 public:
  static core::Status load(const std::string& path, const std::vector<core::KernelLayout>& layouts,
                           std::unique_ptr<core::ModuleImage>& image);
  explicit CpuImage(std::unique_ptr<core::CpuLibrary> library) : library_(std::move(library)) {}
  void* entry(const core::KernelLayout& layout) override { return library_->symbol(layout.entry); }
  void* host_entry(const core::HostLayout& layout) override { return library_->host_entry(layout); }

 private:
  const std::unique_ptr<core::CpuLibrary> library_;
};

}  // namespace cuda_runtime::cpu
