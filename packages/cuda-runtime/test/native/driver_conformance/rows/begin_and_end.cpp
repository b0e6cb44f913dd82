// Rows CB: how captures begin and end.
#include <thread>

#include "harness/graphs.h"
#include "harness/worker.h"
#include "rows/rows.h"

namespace conformance {
namespace {

struct Info {
  cudaError_t error = cudaSuccess;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* dependencies = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  size_t count = 0;
};

Info info_of(cudaStream_t stream) {
  Info info;
  info.error = cudaStreamGetCaptureInfo(stream, &info.status, &info.id, &info.graph,
                                        &info.dependencies, &info.edges, &info.count);
  return info;
}

cudaError_t replace_dependencies(cudaStream_t stream, Nodes nodes) {
  return cudaStreamUpdateCaptureDependencies(stream, nodes.data(), nullptr, nodes.size(),
                                             cudaStreamSetCaptureDependencies);
}

void begin_on_legacy(Scene& s) {
  const cudaStream_t legacy = s.is("legacy") ? cudaStreamLegacy : nullptr;
  s.put("call", s.begin(legacy));
  s.put("after", s.status(legacy));
}

void begin_on_per_thread(Scene& s) {
  s.put("call", s.begin(cudaStreamPerThread));
  s.put("after", s.status(cudaStreamPerThread));
  s.put("end", s.end(cudaStreamPerThread));
}

void begin_twice(Scene& s) {
  s.begin(s.s1);
  s.put("call", s.begin(s.s1));
  s.finish();
}

void begin_undefined(Scene& s) {
  s.put("call", cudaStreamBeginCapture(s.s1, static_cast<cudaStreamCaptureMode>(99)));
  s.put("after", s.status(s.s1));
}

void begin_on_fork(Scene& s) {
  s.begin(s.s1);
  s.link(s.s1, s.s2);
  s.put("call", s.begin(s.s2));
  s.put("after2", s.status(s.s2));
  s.finish();
}

void begin_on_busy(Scene& s) {
  s.spin(s.s1, 200);
  s.put("call", s.begin(s.s1));
  s.k(s.s1);
  s.finish();
}

void end_without_begin(Scene& s) {
  const cudaStream_t stream = s.is("legacy") ? cudaStreamLegacy : s.s1;
  s.put("end", s.end(stream));
  s.put("after", s.status(stream));
}

void end_without_place(Scene& s) {
  s.begin(s.s1);
  s.k(s.s1);
  s.put("call", cudaStreamEndCapture(s.s1, nullptr));
  s.finish();
}

void end_on_fork(Scene& s) {
  s.begin(s.s1);
  s.link(s.s1, s.s2);
  s.put("call", s.end(s.s2));
  s.put("after2", s.status(s.s2));
  s.finish();
}

void end_empty(Scene& s) {
  s.begin(s.s1);
  s.put("end", s.end(s.s1));
  s.put("after", s.status(s.s1));
  cudaGraphExec_t executable = nullptr;
  s.put("instantiate", cudaGraphInstantiate(&executable, s.graph, 0));
  s.put("launch", cudaGraphLaunch(executable, s.s1));
}

void end_elsewhere(Scene& s) {
  s.begin(s.s1);
  on_thread([&] { s.put("call", s.end(s.s1)); });
  s.finish();
}

void end_after_thread(Scene& s) {
  on_thread([&] { s.begin(s.s1); });
  s.put("call", s.end(s.s1));
  s.put("after", s.status(s.s1));
}

void begin_elsewhere(Scene& s) {
  s.begin(s.s1);
  on_thread([&] { s.put("call", s.begin(s.s1)); });
  s.finish();
}

void two_threads(Scene& s) {
  Worker a;
  Worker b;
  a.run([&] { s.put("begin", s.begin(s.s1)); });
  b.run([&] { s.put("begin2", s.begin(s.s2)); });
  a.run([&] { s.k(s.s1); });
  b.run([&] { s.k(s.s2); });
  s.put("after", s.status(s.s1));
  s.put("after2", s.status(s.s2));
  a.run([&] { s.put("end", s.end(s.s1)); });
  b.run([&] { s.put("end2", s.end(s.s2)); });
}

void ids(Scene& s) {
  s.begin(s.s1);
  s.link(s.s1, s.s2);
  const unsigned long long id = info_of(s.s1).id;
  s.put("fork", std::string(info_of(s.s2).id == id ? "equal" : "different"));
  s.put("end", s.end(s.s1));
  s.begin(s.s1);
  s.put("next", std::string(info_of(s.s1).id == id ? "equal" : "different"));
  s.end(s.s1);
}

void destroy_origin(Scene& s) {
  s.begin(s.s1);
  s.link(s.s1, s.s2);
  const cudaEvent_t event = s.record(s.s2);
  s.put("destroy", cudaStreamDestroy(s.s1));
  s.forget(s.s1);
  s.put("after2", s.status(s.s2));
  s.put("event", cudaEventQuery(event));
  s.put("unsafe", cudaStreamSynchronize(s.s3));
}

void destroy_unjoined(Scene& s) {
  s.begin(s.s1);
  s.link(s.s1, s.s2);
  s.k(s.s2);
  s.put("destroy", cudaStreamDestroy(s.s2));
  s.forget(s.s2);
  s.finish();
}

void destroy_joined(Scene& s) {
  s.fork_and_join();
  s.put("destroy", cudaStreamDestroy(s.s2));
  s.forget(s.s2);
  s.finish();
}

void begin_into(Scene& s) {
  const cudaGraph_t graph = make_graph();
  const cudaGraphNode_t a = add_empty(graph);
  s.put("call", cudaStreamBeginCaptureToGraph(s.s1, graph, &a, nullptr, 1, s.mode));
  s.k(s.s1);
  s.put("end", s.end(s.s1));
  s.put("after", s.status(s.s1));
  s.put("graph", std::string(s.graph == graph ? "same" : "another"));
}

void break_into(Scene& s) {
  const cudaGraph_t graph = make_graph();
  const cudaGraphNode_t a = add_empty(graph);
  cudaStreamBeginCaptureToGraph(s.s1, graph, &a, nullptr, 1, s.mode);
  cudaStreamQuery(s.s1);
  s.put("end", s.end(s.s1));
  s.put("after", s.status(s.s1));
  size_t count = 0;
  s.put("use", cudaGraphGetNodes(graph, nullptr, &count));
}

void outside(Scene& s) {
  const Info info = info_of(s.s1);
  s.put("info", info.error);
  s.put("after", info.status == cudaStreamCaptureStatusNone ? "N" : s.status(s.s1));
  s.put("replace", replace_dependencies(s.s1, {}));
}

void cut_off(Scene& s) {
  s.begin(s.s1);
  s.k(s.s1);
  s.link(s.s1, s.s2);
  s.k(s.s2);
  s.put("call", replace_dependencies(s.s2, {}));
  s.finish();
}

void insert_child(Scene& s) {
  const cudaGraph_t child = make_graph();
  add_empty(child);
  s.begin(s.s1);
  s.k(s.s1);
  const Info info = info_of(s.s1);
  cudaGraphNode_t node = nullptr;
  cudaGraphAddChildGraphNode(&node, info.graph, info.dependencies, info.count, child);
  s.put("call", replace_dependencies(s.s1, {node}));
  s.k(s.s1);
  s.finish();
  s.put("kinds", kinds_of(s.graph));
}

}  // namespace

void add_begin_and_end(Rows& rows) {
  rows.insert({{"CB01", begin_on_legacy},   {"CB02", begin_on_per_thread},
               {"CB03", begin_twice},       {"CB04", begin_undefined},
               {"CB05", begin_on_fork},     {"CB06", begin_on_busy},
               {"CB07", end_without_begin}, {"CB08", end_without_place},
               {"CB09", end_on_fork},       {"CB10", end_empty},
               {"CB11", end_elsewhere},     {"CB12", end_elsewhere},
               {"CB13", end_after_thread},  {"CB14", begin_elsewhere},
               {"CB15", two_threads},       {"CB16", ids},
               {"CB17", destroy_origin},    {"CB18", destroy_unjoined},
               {"CB19", destroy_joined},    {"CB20", begin_into},
               {"CB21", break_into},        {"CB22", outside},
               {"CB23", cut_off},           {"CB24", insert_child}});
}

}  // namespace conformance
