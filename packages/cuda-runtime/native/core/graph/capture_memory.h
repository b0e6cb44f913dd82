// Graph-owned memory inside a capture: allocation and free nodes where the stream stands (L10).
#pragma once

#include <string>

#include "core/graph/nodes/graph_buffer.h"

namespace cuda_runtime::core {

class Stream;

/// Memory of the graph that is being captured, from here on; refused outside a capture (CU10).
Status capture_alloc(Stream& stream, uint64_t bytes, const std::string& label,
                     Ref<GraphBuffer>& buffer);
/// Memory that a graph allocates, this one or another, ends here; refused outside a capture, for
/// other memory (CU12) and the second time (CU13).
Status capture_free(Stream& stream, const Ref<Buffer>& buffer);

}  // namespace cuda_runtime::core
