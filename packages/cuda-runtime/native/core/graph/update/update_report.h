// What came of bringing an executable up to date with another graph.
#pragma once

#include "core/graph/graph.h"

namespace cuda_runtime::core {

/// CUDA's numbers (cudaGraphExecUpdateResult).
enum class UpdateResult : int {
  kSuccess = 0,
  kError = 1,
  kTopologyChanged = 2,
  kKindChanged = 3,
  kFunctionChanged = 4,
  kParametersChanged = 5,
  kNotSupported = 6,
  kAttributesChanged = 8,
};

struct UpdateReport {
  UpdateResult result = UpdateResult::kSuccess;
  uint32_t node = kNoNode;       // of the new graph, where one is to blame
  uint32_t from_node = kNoNode;  // where an edge is: its other end
  std::string detail;            // empty when all went well
};

/// The first difference between two flat graphs that an executable cannot take over.
UpdateReport compare(const Graph& before, const Graph& after);

/// Whether a node can do other work: same kind, same direction of a copy, same attributes of a
/// launch. Why not, in words, in `why`.
UpdateResult check_replaceable(const Work& before, const Work& after, std::string& why);

}  // namespace cuda_runtime::core
