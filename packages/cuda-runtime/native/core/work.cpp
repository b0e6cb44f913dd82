#include "core/work.h"

#include "core/graph/nodes/condition.h"
#include "core/graph/nodes/graph_buffer.h"
#include "core/graph/nodes/host_function.h"
#include "core/stream/launch_events.h"

namespace cuda_runtime::core {

Work::Work(WorkKind work_kind) : kind(work_kind), origin(current_origin()) {}

Work::~Work() = default;

std::string Work::label() const {
  if (kind == WorkKind::kKernel) return kernel->name();
  if (kind == WorkKind::kHost) return host->name;
  return work_kind_name(kind);
}

const char* work_kind_name(WorkKind kind) {
  switch (kind) {
    case WorkKind::kKernel:
      return "kernel";
    case WorkKind::kCopy:
      return "copy";
    case WorkKind::kFill:
      return "fill";
    case WorkKind::kWrite:
      return "write";
    case WorkKind::kRead:
      return "read";
    case WorkKind::kNotify:
      return "notify";
    case WorkKind::kEventRecord:
      return "event-record";
    case WorkKind::kEventWait:
      return "event-wait";
    case WorkKind::kHost:
      return "host";
    case WorkKind::kEmpty:
      return "empty";
    case WorkKind::kChild:
      return "child";
    case WorkKind::kConditional:
      return "conditional";
    case WorkKind::kAlloc:
      return "alloc";
    case WorkKind::kFree:
      return "free";
  }
  return "unknown";
}

}  // namespace cuda_runtime::core
