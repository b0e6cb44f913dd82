// Rows CV: an executable made from one graph is updated from another.
#include "harness/graphs.h"
#include "rows/rows.h"
#include "test_kernels/accumulate.h"
#include "test_kernels/empty.h"

namespace conformance {
namespace {

void CUDART_CB do_nothing(void*) {}
void CUDART_CB do_nothing_else(void*) {}

cudaGraphNode_t add_k(Scene& s, cudaGraph_t graph, const Nodes& after = {}, unsigned blocks = 1) {
  EmptyParams params = {0};
  void* arguments[] = {&params};
  return add_kernel(graph, kernel_params(s.kernels.empty, arguments, blocks), after);
}

cudaGraphNode_t add_sum(Scene& s, cudaGraph_t graph, int number, const Nodes& after = {}) {
  AccumulateParams params = {s.counters, 1, 1, number};
  void* arguments[] = {&params};
  return add_kernel(graph, kernel_params(s.kernels.accumulate, arguments), after);
}

// Both graphs, to be filled, and the update.
struct Pair {
  cudaGraph_t first = make_graph();
  cudaGraph_t second = make_graph();

  cudaGraphExec_t update(Scene& s) const {
    const cudaGraphExec_t executable = instantiate(first);
    cudaGraphExecUpdateResultInfo info = {};
    s.put("call", cudaGraphExecUpdate(executable, second, &info));
    s.put("result", static_cast<int>(info.result));
    s.put("node", std::string(info.errorNode != nullptr ? "given" : "none"));
    return executable;
  }
};

void values(Scene& s) {
  const Pair pair;
  for (const cudaGraph_t graph : {pair.first, pair.second}) {
    const bool is_second = graph == pair.second;
    const unsigned blocks = is_second && s.is("grid") ? 2 : 1;
    const unsigned byte = is_second && s.is("fill value") ? 2 : 1;
    add_k(s, graph, {}, blocks);
    add_sum(s, graph, is_second && s.is("arguments") ? 2 : 1);
    add_fill(graph, fill_params(s.counters + 1, byte, 4));
  }
  pair.update(s);
}

void another_kernel(Scene& s) {
  const Pair pair;
  add_k(s, pair.first);
  add_sum(s, pair.second, 1);
  pair.update(s);
}

void fill_length(Scene& s) {
  const Pair pair;
  add_fill(pair.first, fill_params(s.counters, 1, 4));
  add_fill(pair.second, fill_params(s.counters, 1, 8));
  pair.update(s);
}

void host_function(Scene& s) {
  const Pair pair;
  add_host(pair.first, do_nothing, nullptr);
  add_host(pair.second, do_nothing_else, nullptr);
  pair.update(s);
}

void fewer(Scene& s) {
  const Pair pair;
  add_k(s, pair.first, {add_k(s, pair.first)});
  add_k(s, pair.second);
  pair.update(s);
}

void another_order(Scene& s) {
  const Pair pair;
  add_fill(pair.first, fill_params(s.counters, 1, 4), {add_k(s, pair.first)});
  add_k(s, pair.second, {add_fill(pair.second, fill_params(s.counters, 1, 4))});
  pair.update(s);
}

void another_kind(Scene& s) {
  const Pair pair;
  add_k(s, pair.first, {add_k(s, pair.first)});
  add_fill(pair.second, fill_params(s.counters, 1, 4), {add_k(s, pair.second)});
  pair.update(s);
}

void copy_direction(Scene& s) {
  const Pair pair;
  void* pinned = nullptr;
  cudaMallocHost(&pinned, 64);
  cudaGraphNode_t node = nullptr;
  cudaGraphAddMemcpyNode1D(&node, pair.first, nullptr, 0, s.counters, pinned, 4,
                           cudaMemcpyHostToDevice);
  cudaGraphAddMemcpyNode1D(&node, pair.second, nullptr, 0, pinned, s.counters, 4,
                           cudaMemcpyDeviceToHost);
  pair.update(s);
}

void other_dependencies(Scene& s) {
  const Pair pair;
  const cudaGraphNode_t a = add_k(s, pair.first);
  add_k(s, pair.first, {add_k(s, pair.first, {a})});
  const cudaGraphNode_t b = add_k(s, pair.second);
  add_k(s, pair.second, {b});
  add_k(s, pair.second, {b});
  pair.update(s);
}

void full_edge(Scene& s) {
  const Pair pair;
  const cudaGraphNode_t from = add_k(s, pair.first);
  const cudaGraphNode_t to = add_k(s, pair.first);
  cudaGraphEdgeData data = {};
  data.from_port = cudaGraphKernelNodePortProgrammatic;
  data.type = cudaGraphDependencyTypeProgrammatic;
  cudaGraphAddDependencies(pair.first, &from, &to, &data, 1);
  add_k(s, pair.second, {add_k(s, pair.second)});
  pair.update(s);
}

void after_refusal(Scene& s) {
  const Pair pair;
  add_sum(s, pair.first, 5);
  add_sum(s, pair.second, 7);
  add_sum(s, pair.second, 7);
  const cudaGraphExec_t executable = pair.update(s);
  s.put("launch", cudaGraphLaunch(executable, s.s1));
  const int value = s.counter();
  s.put("value", value == 5 ? "old" : std::to_string(value));
}

}  // namespace

void add_update(Rows& rows) {
  rows.insert({{"CV01", values},
               {"CV02", another_kernel},
               {"CV03", fill_length},
               {"CV04", host_function},
               {"CV05", fewer},
               {"CV06", another_order},
               {"CV07", another_kind},
               {"CV08", copy_direction},
               {"CV09", other_dependencies},
               {"CV10", full_edge},
               {"CV11", after_refusal}});
}

}  // namespace conformance
