// Rows CP: programmatic launches and their edges.
#include "harness/graphs.h"
#include "rows/rows.h"
#include "test_kernels/empty.h"
#include "test_kernels/pdl.h"

namespace conformance {
namespace {

cudaLaunchAttribute serialize() {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}

cudaLaunchAttribute programmatic_event(cudaEvent_t event) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticEvent;
  attribute.val.programmaticEvent.event = event;
  return attribute;
}

cudaLaunchAttribute completion_event(cudaEvent_t event) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
  attribute.val.launchCompletionEvent.event = event;
  return attribute;
}

// a: lets its successor start early.
cudaError_t first(Scene& s, cudaStream_t stream, std::vector<cudaLaunchAttribute> attributes = {}) {
  PdlParams params = {};
  params.y = s.counters;
  params.x = s.counters;
  params.value = 1;
  LaunchTerms terms;
  terms.attributes = std::move(attributes);
  return s.launch(s.kernels.pdl_first, stream, &params, terms);
}

// b: waits on the device for a.
cudaError_t second(Scene& s, cudaStream_t stream, std::vector<cudaLaunchAttribute> attributes) {
  PdlParams params = {};
  params.y = s.counters + 1;
  params.x = s.counters;
  LaunchTerms terms;
  terms.attributes = std::move(attributes);
  return s.launch(s.kernels.pdl_second, stream, &params, terms);
}

void put_end(Scene& s) {
  s.put("end", s.end(s.s1));
  s.put("edges", edges_of(s.graph));
}

void serialising(Scene& s) {
  s.begin(s.s1);
  first(s, s.s1);
  second(s, s.s1, {serialize()});
  put_end(s);
}

void plain_between(Scene& s) {
  s.begin(s.s1);
  first(s, s.s1);
  second(s, s.s1, {serialize()});
  s.k(s.s1);
  second(s, s.s1, {serialize()});
  put_end(s);
}

void beside_fill(Scene& s) {
  s.begin(s.s1);
  if (s.is("before")) cudaMemsetAsync(s.counters, 0, 4, s.s1);
  second(s, s.s1, {serialize()});
  if (s.is("after")) cudaMemsetAsync(s.counters, 0, 4, s.s1);
  put_end(s);
}

void event_forks(Scene& s) {
  const cudaEvent_t event = s.event();
  s.begin(s.s1);
  first(s, s.s1, {programmatic_event(event)});
  cudaStreamWaitEvent(s.s2, event, 0);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaGraphNode_t* dependencies = nullptr;
  size_t count = 0;
  s.put("info", cudaStreamGetCaptureInfo(s.s2, &status, nullptr, nullptr, &dependencies, nullptr,
                                         &count));
  second(s, s.s2, {});
  s.link(s.s2, s.s1);
  put_end(s);
}

void event_then_fill(Scene& s) {
  const cudaEvent_t event = s.event();
  s.begin(s.s1);
  first(s, s.s1, {programmatic_event(event)});
  cudaStreamWaitEvent(s.s2, event, 0);
  s.put("call", cudaMemsetAsync(s.counters + 1, 0, 4, s.s2));
  s.link(s.s2, s.s1);
  put_end(s);
  cudaGraphExec_t executable = nullptr;
  s.put("instantiate", cudaGraphInstantiate(&executable, s.graph, 0));
  s.put("launch", cudaGraphLaunch(executable, s.s1));
}

void launch_completion(Scene& s) {
  const cudaEvent_t event = s.event();
  s.begin(s.s1);
  first(s, s.s1, {completion_event(event)});
  cudaStreamWaitEvent(s.s2, event, 0);
  second(s, s.s2, {});
  s.link(s.s2, s.s1);
  put_end(s);
}

void event_with_timing(Scene& s) {
  const cudaEvent_t event = s.event(true);
  s.begin(s.s1);
  s.put("call", first(s, s.s1, {programmatic_event(event)}));
  s.finish();
}

// Two kernels and a fill without edges.
struct Loose {
  explicit Loose(Scene& s) {
    EmptyParams params = {0};
    void* arguments[] = {&params};
    a = add_kernel(graph, kernel_params(s.kernels.empty, arguments));
    b = add_kernel(graph, kernel_params(s.kernels.empty, arguments));
    fill = add_fill(graph, fill_params(s.counters, 0, 4));
  }
  cudaError_t connect(cudaGraphNode_t from, cudaGraphNode_t to, int port,
                      cudaGraphDependencyType type = cudaGraphDependencyTypeProgrammatic) const {
    cudaGraphEdgeData data = {};
    data.from_port = static_cast<unsigned char>(port);
    data.type = static_cast<unsigned char>(type);
    return cudaGraphAddDependencies(graph, &from, &to, &data, 1);
  }
  cudaGraph_t graph = make_graph();
  cudaGraphNode_t a = nullptr;
  cudaGraphNode_t b = nullptr;
  cudaGraphNode_t fill = nullptr;
};

void explicit_edges(Scene& s) {
  const Loose loose(s);
  if (s.is("completion port")) return s.put("call", loose.connect(loose.a, loose.b, 0));
  if (s.is("port 1")) return s.put("call", loose.connect(loose.a, loose.b, 1));
  if (s.is("from a fill")) return s.put("call", loose.connect(loose.fill, loose.b, 1));
  if (s.is("to a fill")) return s.put("call", loose.connect(loose.a, loose.fill, 1));
  loose.connect(loose.a, loose.b, 1);
  s.put("call", loose.connect(loose.a, loose.b, 0, cudaGraphDependencyTypeDefault));
}

void no_room(Scene& s) {
  const Loose loose(s);
  loose.connect(loose.a, loose.b, 1);
  cudaGraphNode_t from[1] = {};
  cudaGraphNode_t to[1] = {};
  size_t count = 1;
  s.put("call", cudaGraphGetEdges(loose.graph, from, to, nullptr, &count));
}

void cloned(Scene& s) {
  const Loose loose(s);
  loose.connect(loose.a, loose.b, 1);
  cudaGraph_t clone = nullptr;
  s.put("call", cudaGraphClone(&clone, loose.graph));
  s.put("edges", edges_of(clone));
}

void fork(Scene& s) {
  s.begin(s.s1);
  first(s, s.s1);
  cudaStreamWaitEvent(s.s2, s.record(s.s1), 0);
  second(s, s.s2, {serialize()});
  second(s, s.s1, {serialize()});
  cudaStreamWaitEvent(s.s1, s.record(s.s2), 0);
}

void serialising_fork(Scene& s) {
  fork(s);
  put_end(s);
}

void serialising_join(Scene& s) {
  fork(s);
  second(s, s.s1, {serialize()});
  put_end(s);
}

}  // namespace

void add_programmatic(Rows& rows) {
  rows.insert({{"CP01", serialising},
               {"CP02", plain_between},
               {"CP03", beside_fill},
               {"CP04", event_forks},
               {"CP05", event_then_fill},
               {"CP06", launch_completion},
               {"CP07", event_with_timing},
               {"CP08", explicit_edges},
               {"CP09", no_room},
               {"CP10", cloned},
               {"CP11", serialising_fork},
               {"CP12", serialising_join}});
}

}  // namespace conformance
