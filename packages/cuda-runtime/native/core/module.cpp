#include "core/module.h"

#include <algorithm>
#include <cstring>

#include "core/memory/buffer.h"
#include "core/runtime.h"
#include "cuda_runtime/abi.h"

namespace cuda_runtime::core {
namespace {

constexpr const char* kRebuild = "Rebuild the kernel package: pnpm run build:native";

uint8_t access_mode(const std::string& text) {
  if (text == "r") return kRead;
  if (text == "w") return kWrite;
  return text == "rw" ? kReadWrite : 0;
}

uint32_t bytes_of(const std::string& type) {
  if (type == "bool") return 1;
  return type == "i32" || type == "u32" || type == "f32" ? 4 : 8;
}

Status read_field(const std::string& kernel, const JsonValue& json, ParameterField& field) {
  field.name = json["name"].text();
  field.offset = static_cast<uint32_t>(json["offset"].number_or(0));
  field.type = json["type"].text();
  field.is_buffer = field.type == "buf";
  field.is_optional = json["optional"].bool_or(false);
  field.access = access_mode(json["access"].text());
  if (!field.name.empty() && (!field.is_buffer || field.access != 0)) return {};
  return Status::argument("manifest: kernel " + kernel + " has a field without name or access",
                          kRebuild);
}

/// Names become offsets; all fields are known by then.
void read_extent(const JsonValue& json, const KernelLayout& layout, ParameterExtent& extent) {
  extent.element_bytes = static_cast<uint64_t>(json["bytes"].number_or(1));
  for (const JsonValue& quotient : json["factors"].items) {
    ParameterExtent::Factor factor;
    factor.divisor = static_cast<int64_t>(std::max(quotient["divisor"].number_or(1), 1.0));
    for (const JsonValue& term : quotient["terms"].items) {
      if (term.type == JsonValue::Type::kNumber) {
        factor.constant += static_cast<int64_t>(term.number_or(0));
        continue;
      }
      for (const ParameterField& field : layout.fields) {
        if (field.name == term.text() && field.type == "i32") factor.fields.push_back(field.offset);
      }
    }
    extent.factors.push_back(std::move(factor));
  }
}

Status read_layout(const JsonValue& json, KernelLayout& layout) {
  layout.name = json["name"].text();
  layout.entry = json["cpuEntry"].text(layout.name);
  layout.struct_name = json["struct"].text();
  layout.bytes = static_cast<uint32_t>(json["bytes"].number_or(0));
  layout.waits = json["pdl"]["waits"].bool_or(false);
  layout.triggers = json["pdl"]["triggers"].bool_or(false);
  const std::vector<JsonValue>& block = json["block"].items;
  uint32_t* sizes[] = {&layout.block.x, &layout.block.y, &layout.block.z};
  for (size_t i = 0; i < block.size() && i < 3; ++i) {
    *sizes[i] = static_cast<uint32_t>(block[i].number_or(1));
  }
  for (const JsonValue& item : json["fields"].items) {
    ParameterField field;
    Status status = read_field(layout.name, item, field);
    if (!status.ok()) return status;
    if (field.offset + bytes_of(field.type) > layout.bytes) {
      return Status::error("CRT_PARAMS_LAYOUT", 0,
                           "kernel " + layout.name + ": field " + field.name + " at offset " +
                               std::to_string(field.offset) + " does not fit into " +
                               std::to_string(layout.bytes) + " bytes",
                           kRebuild);
    }
    layout.fields.push_back(std::move(field));
  }
  if (layout.name.empty() || layout.bytes == 0 || layout.fields.size() > 64) {
    return Status::argument("manifest: kernel `" + layout.name +
                                "` needs a name, a size and at most 64 fields",
                            kRebuild);
  }
  for (size_t i = 0; i < layout.fields.size(); ++i) {
    ParameterField& field = layout.fields[i];
    read_extent(json["fields"].items[i]["extent"], layout, field.extent);
    if (field.is_buffer && !field.is_optional) layout.required |= uint64_t{1} << i;
  }
  return {};
}

Status read_layouts(const JsonValue& json, std::vector<KernelLayout>& layouts) {
  for (const JsonValue& item : json.items) {
    layouts.emplace_back();
    Status status = read_layout(item, layouts.back());
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace

uint64_t ParameterExtent::of(const uint8_t* params) const {
  uint64_t product = element_bytes;
  bool is_more = false;  // than can be counted, unless a later factor is 0
  for (const Factor& factor : factors) {
    int64_t sum = factor.constant;
    for (const uint32_t offset : factor.fields) {
      int32_t value;
      std::memcpy(&value, params + offset, sizeof value);
      sum += value;
    }
    if (sum < factor.divisor) return 0;
    const uint64_t count = static_cast<uint64_t>(sum / factor.divisor);
    is_more |= __builtin_mul_overflow(product, count, &product);
  }
  return is_more ? UINT64_MAX : product;
}

Kernel::Kernel(Ref<Module> module, const KernelLayout& layout, void* entry,
               uint64_t max_shared_bytes)
    : Record(kKind),
      module_(std::move(module)),
      layout_(layout),
      entry_(entry),
      max_shared_bytes_(max_shared_bytes) {
  module_->runtime().live().add(*this);
}

Kernel::~Kernel() { module_->runtime().live().remove(*this); }

Module::Module(Ref<Runtime> runtime, std::string package, std::vector<KernelLayout> layouts)
    : Record(kKind),
      runtime_(std::move(runtime)),
      package_(std::move(package)),
      layouts_(std::move(layouts)) {
  runtime_->live().add(*this);
}

Module::~Module() { runtime_->live().remove(*this); }

Status Module::load(Runtime& runtime, const std::string& manifest, const std::string& directory,
                    Ref<Module>& module) {
  JsonValue json;
  std::string error;
  if (!parse_json(manifest, json, error)) {
    return Status::argument("the manifest in " + directory + " is " + error, kRebuild);
  }
  const double abi = json["abi"].number_or(0);
  if (abi < CRT_ABI_OLDEST || abi > CRT_ABI_VERSION) {
    return Status::error("CRT_PARAMS_LAYOUT", 0,
                         "the manifest in " + directory + " has ABI " +
                             std::to_string(static_cast<int>(abi)) + ", this runtime takes " +
                             std::to_string(CRT_ABI_OLDEST) + " to " +
                             std::to_string(CRT_ABI_VERSION),
                         kRebuild);
  }
  std::vector<KernelLayout> layouts;
  std::vector<HostLayout> hosts;
  Status read = read_layouts(json["kernels"], layouts);
  if (read.ok()) read = read_layouts(json["hosts"], hosts);
  if (!read.ok()) return read;
  auto loaded =
      make_ref<Module>(Ref<Runtime>(&runtime), json["package"].text(), std::move(layouts));
  loaded->hosts_ = std::move(hosts);
  Status status = runtime.backend().load_image(json, directory, loaded->layouts_, loaded->image_);
  if (status.ok()) module = std::move(loaded);
  return status;
}

Ref<Kernel> Module::kernel(const std::string& name) {
  for (const KernelLayout& layout : layouts_) {
    if (layout.name != name) continue;
    void* entry = image_->entry(layout);
    if (entry == nullptr) return nullptr;
    return make_ref<Kernel>(Ref<Module>(this), layout, entry, image_->max_shared_bytes(entry));
  }
  return nullptr;
}

}  // namespace cuda_runtime::core
