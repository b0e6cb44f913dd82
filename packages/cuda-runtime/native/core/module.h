// A loaded kernel package: its artefact and the layouts that its manifest states.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/record.h"
#include "core/base/status.h"
#include "core/launch_config.h"

namespace cuda_runtime::core {

class Runtime;
class Module;

/// What a buffer must hold at least: a product of quotients of sums, of i32 fields (by offset) and
/// constants.
struct ParameterExtent {
  struct Factor {
    int64_t constant = 0;
    std::vector<uint32_t> fields;  // offsets
    int64_t divisor = 1;           // at least 1; a remainder counts for nothing
  };
  uint64_t element_bytes = 1;
  std::vector<Factor> factors;  // none: nothing is known

  /// In bytes; at most UINT64_MAX.
  uint64_t of(const uint8_t* params) const;
};

/// One field of a parameter struct, in the order of the manifest.
struct ParameterField {
  // What a launch reads comes first.
  uint32_t offset = 0;
  bool is_buffer = false;
  bool is_optional = false;
  uint8_t access = 0;  // AccessMode, buffers only
  ParameterExtent extent;
  std::string name;
  std::string type;  // "buf", "u64", …
};

/// A kernel as a manifest describes it.
struct KernelLayout {
  std::string name;
  std::string entry;  // symbol of the CPU function
  std::string struct_name;
  uint32_t bytes = 0;
  std::vector<ParameterField> fields;
  uint64_t required = 0;  // one bit a field: buffers that must be given
  Dim3 block;             // the largest it was compiled for
  bool waits = false;
  bool triggers = false;
};

class Kernel : public Record {
 public:
  static constexpr Kind kKind = Kind::kKernel;

  Kernel(Ref<Module> module, const KernelLayout& layout, void* entry,
         uint64_t max_shared_bytes);
  ~Kernel() override;

  const std::string& name() const { return layout_.name; }
  const KernelLayout& layout() const { return layout_; }
  Module& module() const { return *module_; }
  /// The backend's own: on the CPU the function.
  void* entry() const { return entry_; }
  uint64_t max_shared_bytes() const { return max_shared_bytes_; }

 private:
  const Ref<Module> module_;  // code stays mapped while a kernel is referenced (L16)
  const KernelLayout& layout_;
  void* const entry_;
  const uint64_t max_shared_bytes_;
};

/// A host function as a manifest describes it; `struct_name` and `fields` are those of its
/// parameters.
using HostLayout = KernelLayout;

/// Shared memory of a block on the largest device that we build for.
inline constexpr uint64_t kMaxSharedBytes = 232'448;

/// The artefact of a module on one backend.
class ModuleImage {
 public:
  virtual ~ModuleImage() = default;
  /// Null when the artefact lacks the kernel.
  virtual void* entry(const KernelLayout& layout) = 0;
  /// Dynamic shared memory that a block of the kernel may have.
  virtual uint64_t max_shared_bytes(void*) const { return kMaxSharedBytes; }
  /// The host function, which every backend takes from the CPU library; null when it is not there,
  /// or has parameters of another size.
  virtual void* host_entry(const HostLayout&) { return nullptr; }
};

class Module : public Record {
 public:
  static constexpr Kind kKind = Kind::kModule;

  Module(Ref<Runtime> runtime, std::string package, std::vector<KernelLayout> layouts);
  ~Module() override;

  /// Parses a manifest and loads this backend's artefact from `directory`.
  static Status load(Runtime& runtime, const std::string& manifest, const std::string& directory,
                     Ref<Module>& module);

  Runtime& runtime() const { return *runtime_; }
  const std::string& package() const { return package_; }
  const std::vector<KernelLayout>& layouts() const { return layouts_; }
  const std::vector<HostLayout>& hosts() const { return hosts_; }
  ModuleImage& image() const { return *image_; }
  /// Null when the module has no such kernel on this backend.
  Ref<Kernel> kernel(const std::string& name);

 private:
  const Ref<Runtime> runtime_;
  const std::string package_;
  const std::vector<KernelLayout> layouts_;
  std::vector<HostLayout> hosts_;
  std::unique_ptr<ModuleImage> image_;
};

}  // namespace cuda_runtime::core
