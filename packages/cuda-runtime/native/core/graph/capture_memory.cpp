#include "core/graph/capture_memory.h"

#include "core/graph/build/builder.h"
#include "core/graph/capture_rules.h"
#include "core/graph/nodes/host_function.h"
#include "core/runtime.h"
#include "core/stream/stream.h"

namespace cuda_runtime::core {
namespace {

Status not_capturing(const Stream& stream, const char* what) {
  return Status::argument(std::string(what) + " only where a graph is being captured",
                          "Do it inside the capture; outside, memory is allocated with "
                          "`device.alloc` and freed by `dispose`")
      .on_stream(stream.display_name());
}

/// The capture that the stream takes part in. Needs the runtime's mutex.
Status check_capture(Stream& stream, const char* what) {
  Status status = check_submission(stream);
  if (!status.ok() || stream.capture) return status;
  return not_capturing(stream, what);
}

}  // namespace

Status capture_alloc(Stream& stream, uint64_t bytes, const std::string& label,
                     Ref<GraphBuffer>& buffer) {
  constexpr const char* kWhat = "memory of a graph can be allocated";
  Status status = check_not_in_callback();
  if (!status.ok()) return status;
  Runtime& runtime = stream.runtime();
  Ref<CaptureSequence> sequence;
  uint64_t home = 0;
  {
    LockGuard lock(runtime.mutex());
    status = check_capture(stream, kWhat);
    if (!status.ok()) return status;
    sequence = stream.capture;
    home = sequence->graph->home();
  }
  // Without the mutex, which a buffer that is refused below needs at its end.
  status = allocate_graph_buffer(runtime, home, bytes, label, buffer);
  if (!status.ok()) return status;
  Ref<Work> work = make_alloc(buffer);
  LockGuard lock(runtime.mutex());
  if (stream.capture != sequence) return not_capturing(stream, kWhat);
  return add_node(stream, std::move(work));
}

Status capture_free(Stream& stream, const Ref<Buffer>& buffer) {
  Status status = check_not_in_callback();
  if (!status.ok()) return status;
  Ref<Work> work;
  LockGuard lock(stream.runtime().mutex());
  status = check_capture(stream, "memory can be freed by a stream");
  if (status.ok()) status = make_free(stream.runtime(), buffer, work);
  if (!status.ok()) return std::move(status).on_stream(stream.display_name());
  const Ref<GraphBuffer> memory = work->memory;
  status = add_node(stream, std::move(work));
  if (status.ok()) memory->has_free_node = true;
  return status;
}

}  // namespace cuda_runtime::core
