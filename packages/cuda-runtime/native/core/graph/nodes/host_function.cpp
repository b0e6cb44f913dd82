#include "core/graph/nodes/host_function.h"

#include <algorithm>
#include <cstring>

#include "core/runtime.h"

namespace cuda_runtime::core {
namespace {

thread_local bool in_callback = false;

/// Writes the addresses of host memory into the struct.
Status bind_host_buffers(const HostLayout& layout, const HostRequest& request,
                         HostFunction& function) {
  for (const BufferArgument& argument : request.buffers) {
    const bool fits = argument.field < layout.fields.size() &&
                      layout.fields[argument.field].is_buffer;
    if (!fits || argument.buffer->kind() != Kind::kHostBuffer) {
      return Status::argument("host function " + layout.name + ": field " +
                                  std::to_string(argument.field) + " does not take " +
                                  argument.buffer->describe(),
                              "Give host buffers to pointer fields");
    }
    const ParameterField& field = layout.fields[argument.field];
    const uint8_t* pointer = argument.buffer->data();
    std::memcpy(function.params.data() + field.offset, &pointer, sizeof pointer);
    function.accesses.push_back({argument.buffer, 0, argument.buffer->bytes(),
                                 static_cast<AccessMode>(field.access)});
  }
  const auto needed = std::count_if(
      layout.fields.begin(), layout.fields.end(),
      [](const ParameterField& field) { return field.is_buffer && !field.is_optional; });
  if (request.buffers.size() >= static_cast<size_t>(needed)) return {};
  return Status::argument("host function " + layout.name + " lacks a buffer",
                          "Give every pointer field a host buffer");
}

}  // namespace

Status make_host_function(Module& module, const HostRequest& request,
                          Ref<HostFunction>& function) {
  const auto found =
      std::find_if(module.hosts().begin(), module.hosts().end(),
                   [&](const HostLayout& layout) { return layout.name == request.name; });
  void* entry = found == module.hosts().end() ? nullptr : module.image().host_entry(*found);
  if (entry == nullptr) {
    return Status::error("CRT_NO_SYMBOL", kSymbolNotFound,
                         module.package() + " has no host function " + request.name,
                         "Correct the name, or build the kernel package again");
  }
  if (request.params_bytes != found->bytes) {
    return Status::error("CRT_PARAMS_LAYOUT", 0,
                         "host function " + request.name + ": the parameter block has " +
                             std::to_string(request.params_bytes) + " bytes, expected " +
                             std::to_string(found->bytes));
  }
  auto made = make_ref<HostFunction>(request.name, reinterpret_cast<HostFunction::Entry>(entry),
                                     Ref<Module>(&module));
  std::memcpy(made->params.resize(found->bytes), request.params, found->bytes);
  Status status = bind_host_buffers(*found, request, *made);
  if (!status.ok()) return status;
  made->list();
  function = std::move(made);
  return status;
}

HostFunction::~HostFunction() {
  if (is_listed_) module->runtime().live().remove(*this);
}

void HostFunction::list() {
  module->runtime().live().add(*this);
  is_listed_ = true;
}

void HostFunction::call() const {
  in_callback = true;
  entry(params.data());
  in_callback = false;
}

Status check_not_in_callback() {
  if (!in_callback) [[likely]] return {};
  return Status::error("CRT_IN_CALLBACK", kNotPermitted,
                       "the runtime was used inside a host function",
                       "Move the call out of the function; use `notify` to go on in JavaScript");
}

}  // namespace cuda_runtime::core
