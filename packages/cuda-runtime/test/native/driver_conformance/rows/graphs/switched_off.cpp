// CG09 in chains: a node that is switched off does nothing, and all others run in their order.
#include <array>
#include <cstdint>
#include <random>

#include "harness/graphs.h"
#include "rows/rows.h"
#include "test_kernels/accumulate.h"

namespace conformance {
namespace {

enum class Kind { kKernel, kFill, kCopy };

struct Link {
  Kind kind = Kind::kKernel;
  int to = 0;
  int from = 0;    // of a copy
  int number = 0;  // added by a kernel, filled
  bool on = true;
  cudaGraphNode_t node = nullptr;
};

using Values = std::array<int32_t, Scene::kCounters>;

constexpr int kRounds = 60;
constexpr int kLaunches = 12;

cudaGraphNode_t add_link(Scene& s, cudaGraph_t graph, const Link& link, const Nodes& after) {
  int32_t* const to = s.counters + link.to;
  if (link.kind == Kind::kFill) return add_fill(graph, fill_params(to, unsigned(link.number), 4), after);
  cudaGraphNode_t node = nullptr;
  if (link.kind == Kind::kCopy) {
    cudaGraphAddMemcpyNode1D(&node, graph, after.data(), after.size(), to, s.counters + link.from, 4,
                             cudaMemcpyDefault);
    return node;
  }
  AccumulateParams params = {to, 1, 3, link.number};
  void* arguments[] = {&params};
  return add_kernel(graph, kernel_params(s.kernels.accumulate, arguments), after);
}

void apply(const Link& link, Values& values) {
  if (!link.on) return;
  auto& to = values[size_t(link.to)];
  if (link.kind == Kind::kFill) to = int32_t(uint32_t(link.number) * 0x01010101u);
  if (link.kind == Kind::kCopy) to = values[size_t(link.from)];
  if (link.kind == Kind::kKernel) to = int32_t(uint32_t(to) * 3 + uint32_t(link.number));
}

// One random chain, launched again and again while nodes of `kind` go off and on.
cudaError_t play(Scene& s, Kind kind, std::mt19937& random, Values& values) {
  const auto below = [&](unsigned end) { return int(random() % end); };
  const cudaGraph_t graph = make_graph();
  std::vector<Link> chain(2 + size_t(below(7)));
  Nodes after;
  for (Link& link : chain) {
    link = {Kind(below(3)), below(Scene::kCounters), below(Scene::kCounters), below(256)};
    if (link.from == link.to) link.from = (link.to + 1) % Scene::kCounters;
    link.node = add_link(s, graph, link, after);
    after = {link.node};
  }
  const cudaGraphExec_t executable = instantiate(graph);
  cudaError_t error = cudaSuccess;
  for (int launch = 0; launch < kLaunches && error == cudaSuccess; ++launch) {
    Link& link = chain[size_t(below(unsigned(chain.size())))];
    if (link.kind == kind) {
      link.on = !link.on;
      error = cudaGraphNodeSetEnabled(executable, link.node, link.on ? 1 : 0);
    }
    if (error == cudaSuccess) error = cudaGraphLaunch(executable, s.s1);
    for (const Link& each : chain) apply(each, values);
  }
  if (error == cudaSuccess) error = cudaStreamSynchronize(s.s1);
  if (error == cudaSuccess) error = cudaGraphExecDestroy(executable);
  if (error == cudaSuccess) error = cudaGraphDestroy(graph);
  return error;
}

}  // namespace

void switched_off_in_chains(Scene& s) {
  const Kind kind = s.is("fill in a chain")   ? Kind::kFill
                    : s.is("copy in a chain") ? Kind::kCopy
                                              : Kind::kKernel;
  std::mt19937 random(7);
  Values values{};
  cudaError_t error = cudaMemset(s.counters, 0, sizeof values);
  int wrong = 0;
  for (int round = 0; round < kRounds && error == cudaSuccess; ++round) {
    error = play(s, kind, random, values);
    Values got{};
    if (error == cudaSuccess) error = cudaMemcpy(got.data(), s.counters, sizeof got, cudaMemcpyDefault);
    if (got == values) continue;
    ++wrong;
    if (error == cudaSuccess) error = cudaMemcpy(s.counters, values.data(), sizeof got, cudaMemcpyDefault);
  }
  s.put("call", error);
  s.put("results", wrong == 0 ? "right" : "wrong in " + std::to_string(wrong) + " chains");
}

}  // namespace conformance
