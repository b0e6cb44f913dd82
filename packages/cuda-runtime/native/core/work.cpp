#include "core/work.h"

#include "core/stream/event.h"

namespace cuda_runtime::core {

Work::Work(WorkKind work_kind) : kind(work_kind) {}

Work::~Work() = default;

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
  }
  return "unknown";
}

}  // namespace cuda_runtime::core
