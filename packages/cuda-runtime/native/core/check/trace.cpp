#include "core/check/trace.h"

#include "core/base/json.h"

namespace cuda_runtime::core {

void Trace::enable(bool on) {
  LockGuard lock(mutex_);
  spans_.clear();
  lost_.store(0);
  on_.store(on, std::memory_order_relaxed);
}

void Trace::add(Span span) {
  LockGuard lock(mutex_);
  spans_.push_back(std::move(span));
}

Status Trace::take(std::string& text) {
  std::vector<Span> spans;
  {
    LockGuard lock(mutex_);
    spans.swap(spans_);
  }
  const uint64_t lost = lost_.exchange(0);
  if (lost > 0) {
    return Status::error("CRT_OOM", kMemoryAllocation,
                         "no memory for " + std::to_string(lost) + " spans of the trace",
                         "Trace fewer operations at a time");
  }
  JsonWriter json;
  json.begin_array();
  for (const Span& span : spans) {
    json.begin_object();
    json.field("name", span.name);
    json.field("kind", work_kind_name(span.kind));
    json.field("stream", span.stream);
    json.field("thread", span.thread);
    json.field("startNs", span.start_ns);
    json.field("endNs", span.end_ns);
    json.field("graph", span.graph);
    json.field("node", static_cast<uint64_t>(span.node));
    json.field("launch", span.launch);
    json.end_object();
  }
  json.end_array();
  text = json.take();
  return {};
}

}  // namespace cuda_runtime::core
