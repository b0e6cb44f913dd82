// lib<package>_cpu.so of a kernel package: kernels of the CPU backend, host functions of every one.
#pragma once

#include <memory>
#include <string>

#include "core/module.h"

namespace cuda_runtime::core {

class CpuLibrary {
 public:
  /// Looks whether the file is whole, then loads it.
  static Status open(const std::string& path, std::unique_ptr<CpuLibrary>& library);
  explicit CpuLibrary(void* library) : library_(library) {}
  ~CpuLibrary();
  CpuLibrary(const CpuLibrary&) = delete;
  CpuLibrary& operator=(const CpuLibrary&) = delete;

  /// Null when it has no such symbol.
  void* symbol(const std::string& name) const;
  /// The number that a symbol holds, e.g. a size; null when it has no such symbol.
  const uint32_t* number(const std::string& name) const {
    return static_cast<const uint32_t*>(symbol(name));
  }
  /// Null when it is not there or takes parameters of another size.
  void* host_entry(const HostLayout& layout) const;

 private:
  void* const library_;
};

}  // namespace cuda_runtime::core
