#include "core/check/audit/held.h"

#include "core/file/mapped_file.h"
#include "core/graph/nodes/condition.h"
#include "core/graph/nodes/host_function.h"
#include "core/graph/traced_copy.h"
#include "core/stream/stream.h"

namespace cuda_runtime::core {
namespace {

const char* origin_name(GraphOrigin origin) {
  if (origin == GraphOrigin::kBody) return "body";
  return origin == GraphOrigin::kCaptured ? "captured" : "explicit";
}

std::string graph_label(const Graph& graph) {
  return std::string(origin_name(graph.origin())) + "#" + std::to_string(graph.id());
}

Holder holder_of(const Record& record) {
  Holder holder;
  holder.by = kind_name(record.kind());
  holder.record = record.record_id();
  return holder;
}

/// The holder's work keeps what its nodes name; memory of a graph is among the accesses.
void visit_work(const Work& work, const Holder& holder, const HeldVisitor& visitor) {
  const auto hold = [&](const auto& held) {
    if (held) visitor(held->record_id(), holder);
  };
  hold(work.kernel);
  for (const Access& access : work.accesses) hold(access.buffer);
  for (const ConditionArgument& argument : work.conditions) hold(argument.condition);
  hold(work.event);
  hold(work.host);
  hold(work.child);
  if (!work.conditional) return;
  hold(work.conditional->condition);
  for (const Ref<Graph>& body : work.conditional->bodies) hold(body);
}

void visit_graph(const Graph& graph, const HeldVisitor& visitor) {
  const auto on_node = [&](uint32_t node, const Work& work) {
    Holder holder = holder_of(graph);
    holder.node = node;
    holder.operation = work.label();
    visit_work(work, holder, visitor);
  };
  graph.visit_held(on_node, [&](const Ref<GraphCondition>& condition) {
    visitor(condition->record_id(), holder_of(graph));
  });
}

void visit_exec(const Exec& exec, const HeldVisitor& visitor) {
  visitor(exec.graph()->record_id(), holder_of(exec));
  for (const Ref<TracedCopy>& copy : exec.traced_copies) {
    Holder holder = holder_of(exec);
    holder.operation = "traced copy";
    visitor(copy->exec->record_id(), holder);
  }
}

void visit_host_function(const HostFunction& function, const HeldVisitor& visitor) {
  visitor(function.module->record_id(), holder_of(function));
  for (const Access& access : function.accesses) {
    visitor(access.buffer->record_id(), holder_of(function));
  }
}

}  // namespace

std::string audit_label(const Record& record) {
  switch (record.kind()) {
    case Kind::kBuffer:
    case Kind::kHostBuffer:
      return static_cast<const Buffer&>(record).label();
    case Kind::kStream:
      return static_cast<const Stream&>(record).display_name();
    case Kind::kKernel:
      return static_cast<const Kernel&>(record).name();
    case Kind::kModule:
      return static_cast<const Module&>(record).package();
    case Kind::kGraph:
      return graph_label(static_cast<const Graph&>(record));
    case Kind::kExec:
      return graph_label(*static_cast<const Exec&>(record).graph());
    case Kind::kEvent:
      return static_cast<const Event&>(record).has_timing() ? "with timing" : "";
    case Kind::kCondition:
      return "condition " + std::to_string(static_cast<const GraphCondition&>(record).index);
    case Kind::kHostFunction:
      return static_cast<const HostFunction&>(record).name;
    case Kind::kMappedFile:
      return static_cast<const MappedFile&>(record).path();
    case Kind::kRuntime:
      break;
  }
  return {};
}

void visit_held(const Record& record, const HeldVisitor& visitor) {
  switch (record.kind()) {
    case Kind::kKernel:
      return visitor(static_cast<const Kernel&>(record).module().record_id(), holder_of(record));
    case Kind::kGraph:
      return visit_graph(static_cast<const Graph&>(record), visitor);
    case Kind::kExec:
      return visit_exec(static_cast<const Exec&>(record), visitor);
    case Kind::kHostFunction:
      return visit_host_function(static_cast<const HostFunction&>(record), visitor);
    case Kind::kStream:
      if (const auto& capture = static_cast<const Stream&>(record).capture) {
        visitor(capture->record_id, holder_of(record));
      }
      return;
    case Kind::kEvent:
      if (const auto& sequence = static_cast<const Event&>(record).sequence) {
        visitor(sequence->record_id, holder_of(record));
      }
      return;
    default:
      return;
  }
}

void visit_held(const SubmittedWork& submitted, const HeldVisitor& visitor) {
  Holder holder;
  holder.by = "work";
  holder.stream = submitted.stream_name;
  holder.operation = submitted.exec != nullptr ? "graph"
                     : submitted.work != nullptr ? submitted.work->label()
                                                 : "mark";
  if (submitted.work != nullptr) visit_work(*submitted.work, holder, visitor);
  if (submitted.exec != nullptr) visitor(submitted.exec->record_id(), holder);
  if (submitted.graph != nullptr) visitor(submitted.graph->record_id(), holder);
  if (submitted.stream != nullptr) visitor(submitted.stream->record_id(), holder);
}

}  // namespace cuda_runtime::core
