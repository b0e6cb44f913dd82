#include "core/launch.h"

#include <bit>
#include <cstring>

#include "core/graph/capture_rules.h"
#include "core/graph/nodes/condition.h"
#include "core/graph/nodes/host_function.h"
#include "core/runtime.h"

namespace cuda_runtime::core {
namespace {

// Limits of the largest device that we build for; the kernel's own block limit is in its layout.
constexpr uint64_t kMaxGridX = 2'147'483'647;
constexpr uint64_t kMaxGridYz = 65'535;
constexpr uint64_t kPortableCluster = 8;
constexpr uint64_t kNonPortableClusterBlocks = 16;

std::string text(const Dim3& dims) {
  return "[" + std::to_string(dims.x) + ", " + std::to_string(dims.y) + ", " +
         std::to_string(dims.z) + "]";
}

Status bad_config(int number, const Kernel& kernel, std::string detail) {
  return Status::error("CRT_LAUNCH_CONFIG", number, "kernel " + kernel.name() + ": " + detail,
                       "Change the launch configuration");
}

Status check_config(const LaunchRequest& request) {
  const LaunchConfig& config = request.config;
  const Kernel& kernel = *request.kernel;
  const uint64_t largest = kernel.layout().block.product();
  if (config.grid.has_zero() || config.block.has_zero()) {
    return bad_config(kInvalidValue, kernel,
                      "grid " + text(config.grid) + ", block " + text(config.block) +
                          ", expected no zero");
  }
  if (config.grid.x > kMaxGridX || config.grid.y > kMaxGridYz || config.grid.z > kMaxGridYz) {
    return bad_config(kInvalidValue, kernel,
                      "grid " + text(config.grid) +
                          ", expected at most [2147483647, 65535, 65535]");
  }
  if (config.block.product() > largest) {
    return bad_config(kInvalidValue, kernel,
                      "block " + text(config.block) + " has " +
                          std::to_string(config.block.product()) + " threads, expected at most " +
                          std::to_string(largest));
  }
  if (config.shared_bytes > kernel.max_shared_bytes()) {
    return bad_config(kInvalidValue, kernel,
                      "sharedBytes " + std::to_string(config.shared_bytes) +
                          ", expected at most " + std::to_string(kernel.max_shared_bytes()) +
                          " beside its static shared memory");
  }
  if ((config.flags & kClusterGiven) == 0) return {};
  const Dim3& cluster = config.cluster;
  const bool is_portable = (config.flags & kNonPortableCluster) == 0;
  const uint64_t most = is_portable ? kPortableCluster : kNonPortableClusterBlocks;
  if (cluster.has_zero() || cluster.product() > most ||
      config.grid.x % cluster.x != 0 || config.grid.y % cluster.y != 0 ||
      config.grid.z % cluster.z != 0) {
    return bad_config(kInvalidClusterSize, kernel,
                      "cluster " + text(cluster) + ", expected at most " + std::to_string(most) +
                          " blocks that divide grid " + text(config.grid) +
                          (is_portable ? "; up to 16 with nonPortableCluster" : ""));
  }
  return {};
}

std::string bytes_text(uint64_t offset, uint64_t bytes) {
  return std::to_string(offset) + " to " + std::to_string(offset + bytes);
}

Status outside(const Buffer& buffer, uint64_t offset, uint64_t bytes, const char* argument) {
  return Status::argument(std::string("`") + argument + "` is bytes " + bytes_text(offset, bytes) +
                              " of " + buffer.describe(),
                          "Stay within the buffer");
}

Status check_range(const Buffer& buffer, uint64_t offset, uint64_t bytes, const char* argument) {
  const uint64_t size = buffer.bytes();
  if (offset <= size && bytes <= size - offset) return {};
  return outside(buffer, offset, bytes, argument);
}

Status check_range(const Range& range, uint64_t bytes, const char* argument) {
  return check_range(*range.buffer, range.offset, bytes, argument);
}

// What a copy over its own source gives is defined on the CPU only. A copy of bytes onto themselves
// changes nothing, in whatever order.
Status check_apart(const Range& to, const Range& from, uint64_t bytes) {
  if (to.buffer != from.buffer || to.offset == from.offset) return {};
  const uint64_t apart =
      to.offset > from.offset ? to.offset - from.offset : from.offset - to.offset;
  if (apart >= bytes) return {};
  return Status::argument("`destination` is bytes " + bytes_text(to.offset, bytes) +
                              " and `source` bytes " + bytes_text(from.offset, bytes) + " of " +
                              to.buffer->describe() + ", expected bytes that do not overlap",
                          "Copy to another buffer first, and from there");
}

Status foreign(const Buffer& buffer) {
  return Status::error("CRT_BACKEND_MISMATCH", kInvalidResourceHandle,
                       buffer.describe() + " belongs to another runtime than the stream or graph",
                       "Open one runtime");
}

Status check_runtime(const Runtime& runtime, const Buffer& buffer) {
  return &buffer.runtime() == &runtime ? Status() : foreign(buffer);
}

Status missing(const KernelLayout& layout, uint64_t fields) {
  const std::string& name = layout.fields[std::countr_zero(fields)].name;
  return Status::argument("kernel " + layout.name + ": `" + name +
                          "` is missing, expected a buffer");
}

Status too_small(const KernelLayout& layout, const ParameterField& field, uint64_t bytes,
                 uint64_t needed) {
  return Status::argument("kernel " + layout.name + ": `" + field.name + "` spans " +
                              std::to_string(bytes) + " bytes, expected at least " +
                              std::to_string(needed) + " for the other fields",
                          "Give larger memory, or smaller counts");
}

Status check_buffers(const Runtime& runtime, const LaunchRequest& request) {
  const KernelLayout& layout = request.kernel->layout();
  uint64_t given = 0;
  for (const BufferArgument& argument : request.buffers) {
    if (argument.field >= layout.fields.size() || !layout.fields[argument.field].is_buffer) {
      return Status::argument("kernel " + layout.name + " has no buffer field " +
                              std::to_string(argument.field));
    }
    const Buffer& buffer = *argument.buffer;
    Status status = check_runtime(runtime, buffer);
    if (status.ok()) {
      status = check_range(buffer, argument.offset, argument.extent,
                           layout.fields[argument.field].name.c_str());
    }
    if (!status.ok()) return status;
    const ParameterField& field = layout.fields[argument.field];
    if (!field.extent.factors.empty()) {
      const uint64_t needed = field.extent.of(request.params);
      if (argument.extent < needed) return too_small(layout, field, argument.extent, needed);
    }
    given |= uint64_t{1} << argument.field;
  }
  const uint64_t left = layout.required & ~given;
  return left == 0 ? Status() : missing(layout, left);
}

/// Writes the pointers into the block and notes the accesses, to which the references go.
void bind_buffers(LaunchRequest& request, Work& work) {
  const KernelLayout& layout = work.kernel->layout();
  uint8_t* const params = work.params.data();
  for (BufferArgument& argument : request.buffers) {
    const ParameterField& field = layout.fields[argument.field];
    const uint8_t* pointer = argument.buffer->data();
    if (pointer != nullptr) pointer += argument.offset;
    std::memcpy(params + field.offset, &pointer, sizeof pointer);
    work.accesses.push_back({std::move(argument.buffer), argument.offset,
                             argument.offset + argument.extent,
                             static_cast<AccessMode>(field.access)});
  }
}

/// Notes where each executable writes its handle of a condition.
Status bind_conditions(const LaunchRequest& request, Work& work) {
  const KernelLayout& layout = request.kernel->layout();
  for (const ConditionField& argument : request.conditions) {
    if (argument.field >= layout.fields.size() || layout.fields[argument.field].type != "u64") {
      return Status::argument("kernel " + layout.name + " has no field " +
                                  std::to_string(argument.field) + " for a condition",
                              "Give a condition to a field of type uint64_t");
    }
    work.conditions.push_back({argument.condition, layout.fields[argument.field].offset});
  }
  return {};
}

}  // namespace

Status make_kernel(Runtime& runtime, LaunchRequest& request, Ref<Work>& work) {
  const KernelLayout& layout = request.kernel->layout();
  if (&request.kernel->module().runtime() != &runtime) {
    return Status::error(
        "CRT_BACKEND_MISMATCH", kInvalidResourceHandle,
        "kernel " + layout.name + " belongs to another runtime than the stream or graph",
        "Load the module with the runtime that it is used in");
  }
  if (request.params_bytes != layout.bytes) {
    return Status::error("CRT_PARAMS_LAYOUT", 0,
                         "kernel " + layout.name + ": the parameter block has " +
                             std::to_string(request.params_bytes) + " bytes, expected " +
                             std::to_string(layout.bytes));
  }
  Status status = check_config(request);
  if (!status.ok()) return status;
  status = check_buffers(runtime, request);
  if (!status.ok()) return status;
  auto made = make_ref<Work>(WorkKind::kKernel);
  made->config = request.config;
  std::memcpy(made->params.resize(layout.bytes), request.params, layout.bytes);
  if (!request.conditions.empty()) status = bind_conditions(request, *made);
  if (!status.ok()) return status;
  made->accesses.reserve(request.buffers.size());
  made->kernel = std::move(request.kernel);
  bind_buffers(request, *made);
  work = std::move(made);
  return status;
}

Status launch(LaunchRequest& request) {
  Stream& stream = *request.stream;
  Ref<Work> work;
  Status status = make_kernel(stream.runtime(), request, work);
  const LaunchEvents& events = request.events;
  if (status.ok() && (events.triggered || events.started)) {
    status = check_launch_events(stream, events);
    if (!status.ok()) return status;  // leaves a capture intact (CP07)
    work->events = std::make_unique<LaunchEvents>(events);
  }
  if (status.ok()) return stream.submit(std::move(work));
  if (status.fault().code != "CRT_LAUNCH_CONFIG") return status;
  // A refused launch breaks the capture it was meant for (CU20, CU21).
  LockGuard lock(stream.runtime().mutex());
  const bool is_cluster = status.fault().number == kInvalidClusterSize;
  return refuse(stream.runtime(), stream.capture.get(), std::move(status),
                is_cluster ? "CU21" : "CU20");
}

Status allocate(Stream& stream, uint64_t bytes, std::string label, Ref<Buffer>& buffer) {
  Runtime& runtime = stream.runtime();
  if (!runtime.options().guards) {
    LockGuard lock(runtime.mutex());
    Status status = check_legacy(stream);
    if (status.ok() && !stream.capture) status = check_unsafe(runtime, "allocating memory", "CU11");
    if (!status.ok()) return status;
  }
  return runtime.allocate(bytes, std::move(label), false, buffer);
}

Status allocate_host(Runtime& runtime, uint64_t bytes, Ref<Buffer>& buffer) {
  if (!runtime.options().guards) {
    LockGuard lock(runtime.mutex());
    Status status = check_unsafe(runtime, "allocating pinned memory", "CU09");
    if (!status.ok()) return status;
  }
  return runtime.allocate(bytes, "host", true, buffer);
}

Status make_copy(Runtime& runtime, const Range& to, const Range& from, uint64_t bytes,
                 Ref<Work>& work) {
  Status status = check_range(to, bytes, "destination");
  if (status.ok()) status = check_range(from, bytes, "source");
  if (status.ok()) status = check_runtime(runtime, *to.buffer);
  if (status.ok()) status = check_runtime(runtime, *from.buffer);
  if (status.ok()) status = check_apart(to, from, bytes);
  if (!status.ok()) return status;
  work = make_ref<Work>(WorkKind::kCopy);
  work->to = bytes > 0 ? to.buffer->data() + to.offset : nullptr;
  work->from = bytes > 0 ? from.buffer->data() + from.offset : nullptr;
  work->bytes = bytes;
  work->accesses.push_back({to.buffer, to.offset, to.offset + bytes, kWrite});
  work->accesses.push_back({from.buffer, from.offset, from.offset + bytes, kRead});
  return {};
}

Status make_fill(Runtime& runtime, const Range& to, uint8_t byte, uint64_t bytes, Ref<Work>& work) {
  Status status = check_range(to, bytes, "destination");
  if (status.ok()) status = check_runtime(runtime, *to.buffer);
  if (!status.ok()) return status;
  work = make_ref<Work>(WorkKind::kFill);
  work->to = bytes > 0 ? to.buffer->data() + to.offset : nullptr;
  work->fill_byte = byte;
  work->bytes = bytes;
  work->accesses.push_back({to.buffer, to.offset, to.offset + bytes, kWrite});
  return {};
}

Status make_host(Runtime& runtime, Ref<HostFunction> function, Ref<Work>& work) {
  Status status = runtime.backend().start_callbacks();
  for (const Access& access : function->accesses) {
    if (status.ok()) status = check_runtime(runtime, *access.buffer);
  }
  if (!status.ok()) return status;
  work = make_ref<Work>(WorkKind::kHost);
  for (const Access& access : function->accesses) work->accesses.push_back(access);
  work->host = std::move(function);
  return {};
}

Status copy(Stream& stream, const Range& to, const Range& from, uint64_t bytes) {
  Ref<Work> work;
  Status status = make_copy(stream.runtime(), to, from, bytes, work);
  return status.ok() ? stream.submit(std::move(work)) : std::move(status);
}

Status fill(Stream& stream, const Range& to, uint8_t byte, uint64_t bytes) {
  Ref<Work> work;
  Status status = make_fill(stream.runtime(), to, byte, bytes, work);
  return status.ok() ? stream.submit(std::move(work)) : std::move(status);
}

Status host(Stream& stream, Ref<HostFunction> function) {
  Ref<Work> work;
  Status status = make_host(stream.runtime(), std::move(function), work);
  return status.ok() ? stream.submit(std::move(work)) : std::move(status);
}

Status write(Stream& stream, const Range& to, const uint8_t* source, uint64_t bytes) {
  Status status = check_range(to, bytes, "destination");
  if (status.ok()) status = check_runtime(stream.runtime(), *to.buffer);
  if (!status.ok()) return status;
  auto work = make_ref<Work>(WorkKind::kWrite);
  work->to = bytes > 0 ? to.buffer->data() + to.offset : nullptr;
  work->bytes = bytes;
  status = stream.runtime().backend().stage(bytes, work->staged);
  if (!status.ok()) return std::move(status).on_stream(stream.display_name());
  if (bytes > 0) std::memcpy(work->staged->data(), source, bytes);
  work->from = work->staged->data();
  work->accesses.push_back({to.buffer, to.offset, to.offset + bytes, kWrite});
  return stream.submit_eager(std::move(work), "writing from");
}

Status read(Stream& stream, const Range& from, uint64_t bytes, Ref<CompletionSink> sink,
            int64_t token) {
  Status status = check_range(from, bytes, "source");
  if (status.ok()) status = check_runtime(stream.runtime(), *from.buffer);
  if (!status.ok()) return status;
  auto work = make_ref<Work>(WorkKind::kRead);
  work->from = bytes > 0 ? from.buffer->data() + from.offset : nullptr;
  work->bytes = bytes;
  work->sink = std::move(sink);
  work->token = token;
  work->accesses.push_back({from.buffer, from.offset, from.offset + bytes, kRead});
  return stream.submit_eager(std::move(work), "reading into");
}

Status notify(Stream& stream, Ref<CompletionSink> sink, int64_t token) {
  auto work = make_ref<Work>(WorkKind::kNotify);
  work->sink = std::move(sink);
  work->token = token;
  return stream.submit(std::move(work));
}

}  // namespace cuda_runtime::core
