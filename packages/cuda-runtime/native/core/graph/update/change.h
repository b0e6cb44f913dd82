// Changing what the nodes of an executable do. Launches in flight keep what they were given (CG07),
// and keep alive what it uses; the next launch sees the change. A change that the backend refuses
// throws and leaves the executable as it was; where it cannot be taken back, the executable is
// broken.
#pragma once

#include "core/graph/exec.h"
#include "core/graph/update/update_report.h"

namespace cuda_runtime::core {

/// Takes over all that `graph` does, if only parameters differ (CV01–CV11).
Status update_exec(Exec& exec, const Graph& graph, UpdateReport& report);
/// Other work of the same kind for one node.
Status set_work(Exec& exec, uint32_t node, Ref<Work> work);
/// A node that is off completes at once; kernels, copies and fills only (CG09).
Status set_enabled(Exec& exec, uint32_t node, bool enabled);

}  // namespace cuda_runtime::core
