// What a backend makes ready to run: a copy that nobody changes, child graphs put in place of their
// nodes. A backend sees neither child nodes nor cycles.
#pragma once

#include "core/graph/graph.h"

namespace cuda_runtime::core {

/// The nodes of `source` keep their indices; nodes of children follow behind. A child's node
/// becomes an empty one that depends on the child's last nodes. Bodies are flattened as well.
/// Checks what CUDA checks when it instantiates: order, bodies, conditions (CG01, CG13).
Status flatten(const Graph& source, Ref<Graph>& flat);

}  // namespace cuda_runtime::core
