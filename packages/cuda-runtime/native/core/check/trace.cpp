#include "core/check/trace.h"

#include <algorithm>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/graph/graph.h"

namespace cuda_runtime::core {
namespace {

void write_dims(JsonWriter& json, const char* name, const Dim3& dims) {
  json.key(name);
  json.begin_array();
  for (const uint32_t size : {dims.x, dims.y, dims.z}) json.value(static_cast<uint64_t>(size));
  json.end_array();
}

void write_span(JsonWriter& json, const Span& span) {
  json.begin_object();
  json.field("name", span.name);
  json.field("kind", span.kind);
  json.field("stream", span.stream);
  json.field("thread", span.thread);
  json.field("startNs", span.start_ns);
  json.field("endNs", span.end_ns);
  json.field("operation", span.operation);
  if (!span.grid.has_zero()) {
    write_dims(json, "grid", span.grid);
    write_dims(json, "block", span.block);
  }
  if (span.bytes > 0) json.field("bytes", span.bytes);
  if (span.programmatic) json.field("programmatic", true);
  if (span.graph != 0) {
    json.field("graph", span.graph);
    if (span.capture_id != 0) json.field("captureId", span.capture_id);
    json.field("replay", span.replay);
    if (span.is_node) json.field("node", static_cast<uint64_t>(span.node));
  }
  json.end_object();
}

}  // namespace

Span span_of(const Work& work, const std::string& stream) {
  Span span;
  span.name = work.label();
  span.kind = work_kind_name(work.kind);
  span.stream = stream;
  span.operation = work.traced;
  span.programmatic = work.is_programmatic();
  span.bytes = work.bytes;
  if (work.kind == WorkKind::kKernel) {
    span.grid = work.config.grid;
    span.block = work.config.block;
  }
  return span;
}

Span span_of_node(const Graph& graph, uint32_t node, uint64_t operation, uint64_t replay) {
  const GraphNode& source = graph.nodes()[node];
  Span span = span_of(*source.work, source.stream_name);
  span.operation = operation;
  span.graph = graph.id();
  span.capture_id = graph.capture_id;
  span.replay = replay;
  span.node = node;
  span.is_node = true;
  return span;
}

Span span_of_launch(const Graph& graph, const std::string& stream, uint64_t operation,
                    uint64_t replay) {
  Span span;
  span.name = "graph of " + std::to_string(graph.nodes().size());
  span.kind = "graph";
  span.stream = stream;
  span.operation = operation;
  span.graph = graph.id();
  span.capture_id = graph.capture_id;
  span.replay = replay;
  return span;
}

std::vector<uint64_t> TracePoint::sources() const {
  std::vector<uint64_t> result = waits;
  if (last != 0) result.push_back(last);
  return result;
}

void TracePoint::wait(const std::vector<uint64_t>& sources) {
  for (const uint64_t source : sources) {
    if (std::find(waits.begin(), waits.end(), source) == waits.end()) waits.push_back(source);
  }
}

void Trace::set(TraceMode mode) {
  LockGuard lock(mutex_);
  recorded_ = {};
  lost_.store(0);
  first_ = operations_ + 1;
  running_ = 0;
  mode_.store(mode, std::memory_order_relaxed);
}

uint64_t Trace::submit(TracePoint& point) {
  LockGuard lock(mutex_);
  const uint64_t operation = ++operations_;
  for (const uint64_t source : point.waits) {
    if (source >= first_) recorded_.flows.push_back({source, operation});
  }
  point.waits.clear();
  point.last = operation;
  return operation;
}

void Trace::begun(uint64_t operation) {
  LockGuard lock(mutex_);
  if (is_on() && operation >= first_) ++running_;
}

void Trace::ended(uint64_t operation) {
  LockGuard lock(mutex_);
  if (is_on() && operation >= first_) --running_;
}

void Trace::add(Span span) {
  LockGuard lock(mutex_);
  if (!is_on() || span.operation < first_) return;
  recorded_.spans.push_back(std::move(span));
}

void Trace::note_graph(const Graph& graph) {
  LockGuard lock(mutex_);
  if (recorded_.graphs.contains(graph.id())) return;
  std::vector<Flow> edges;
  const std::vector<GraphNode>& nodes = graph.nodes();
  for (size_t to = 0; to < nodes.size(); ++to) {
    for (const GraphDependency& dependency : nodes[to].dependencies) {
      if (nodes[dependency.node].stream_id == nodes[to].stream_id) continue;
      edges.push_back({dependency.node, to});
    }
  }
  recorded_.graphs.emplace(graph.id(), std::move(edges));
}

void Trace::sample_memory(bool is_host, uint64_t bytes_in_use) {
  try {
    LockGuard lock(mutex_);
    recorded_.samples.push_back({now_ns(), is_host, bytes_in_use});
  } catch (const std::bad_alloc&) {
    lose();
  }
}

Status Trace::take(TraceLosses losses, std::string& text) {
  Recorded recorded;
  {
    LockGuard lock(mutex_);
    std::swap(recorded, recorded_);
    losses.running += running_;
  }
  const uint64_t lost = lost_.exchange(0);
  if (lost > 0) {
    return Status::error("CRT_OOM", kMemoryAllocation,
                         "no memory for " + std::to_string(lost) + " entries of the trace",
                         "Trace fewer operations at a time");
  }
  write(recorded, losses, text);
  return {};
}

void Trace::write(const Recorded& recorded, const TraceLosses& losses, std::string& text) {
  JsonWriter json;
  const auto pairs = [&](const std::vector<Flow>& flows) {
    json.begin_array();
    for (const Flow& flow : flows) {
      json.value(flow.from);
      json.value(flow.to);
    }
    json.end_array();
  };
  json.begin_object();
  json.key("spans");
  json.begin_array();
  for (const Span& span : recorded.spans) write_span(json, span);
  json.end_array();
  json.key("flows");
  pairs(recorded.flows);
  json.key("graphs");
  json.begin_array();
  for (const auto& [graph, edges] : recorded.graphs) {
    json.begin_object();
    json.field("id", graph);
    json.key("edges");
    pairs(edges);
    json.end_object();
  }
  json.end_array();
  json.key("memory");
  json.begin_array();
  for (const Sample& sample : recorded.samples) {
    json.begin_object();
    json.field("ns", sample.ns);
    json.field("place", sample.is_host ? "host" : "device");
    json.field("bytes", sample.bytes);
    json.end_object();
  }
  json.end_array();
  json.field("runningAtStop", losses.running);
  json.field("untracedLaunches", losses.launches);
  if (losses.has_drift) json.field("driftNs", losses.drift_ns);
  json.end_object();
  text = json.take();
}

}  // namespace cuda_runtime::core
