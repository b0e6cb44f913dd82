// A copy of a graph that times its own nodes, for backends whose driver runs graphs out of sight:
// an event is recorded before and behind each node. It has an executable of its own, so that the
// production one stays as it is. In the copy programmatic edges are full ones, since an event
// cannot be recorded between two kernels that overlap.
#pragma once

#include <vector>

#include "core/check/trace.h"
#include "core/graph/exec.h"
#include "core/stream/event.h"

namespace cuda_runtime::core {

/// What the trace shall say of a node of the source, and the events around it.
struct TimedNode {
  Span span;
  Ref<Event> begin;
  Ref<Event> end;
};

struct TracedCopy : public RefCounted {
  Ref<Exec> exec;
  std::vector<TimedNode> timed;
  Ref<Ticket> running;  // behind its last launch, until that was read
};

/// The graph with event-record nodes inserted; `timed` says which event belongs to which node.
/// Event nodes of the source are copied without timing.
Ref<Graph> insert_timing(const Graph& source, std::vector<TimedNode>& timed);

Status make_traced_copy(const Graph& source, bool node_priority, Ref<TracedCopy>& copy);

}  // namespace cuda_runtime::core
