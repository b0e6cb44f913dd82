// Graphs built node by node: what TypeScript cannot reach. Host functions that use the runtime,
// changes from several threads, graphs with random edges against a plain execution of them.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "core/graph/build/builder.h"
#include "core/graph/nodes/host_function.h"
#include "core/graph/update/change.h"
#include "fixture.h"
#include "runner.h"
#include "test_kernels/accumulate.h"

namespace crt_test {
namespace {

struct Callback {
  Stream* stream = nullptr;
  Exec* exec = nullptr;
  std::atomic<int> submitted{0};
  std::atomic<int> launched{0};
  std::atomic<int> synchronized{0};
};

// Asks the runtime for what a host function may not ask for.
void misbehave(const void* params) {
  Callback& callback = **static_cast<Callback* const*>(params);
  auto work = make_ref<Work>(WorkKind::kFill);
  callback.submitted = number(callback.stream->submit(work));
  callback.launched = number(callback.exec->launch(*callback.stream));
  callback.synchronized = number(callback.stream->synchronize_blocking(0));
}

Ref<Work> accumulate_work(Fixture& fixture, const Ref<Buffer>& y, int32_t factor, int32_t x) {
  const AccumulateParams params{nullptr, static_cast<int32_t>(y->bytes() / 4), factor, x};
  LaunchRequest request;
  request.kernel = fixture.module->kernel("test_accumulate");
  request.params = reinterpret_cast<const uint8_t*>(&params);
  request.params_bytes = sizeof params;
  request.buffers.push_back({y, 0, 0, y->bytes()});
  Ref<Work> work;
  OK(make_kernel(*fixture.runtime, request, work));
  return work;
}

int32_t wrap(int32_t y, int32_t factor, int32_t x) {
  return static_cast<int32_t>(static_cast<uint32_t>(y) * static_cast<uint32_t>(factor) +
                              static_cast<uint32_t>(x));
}

}  // namespace

TEST("graph: a host function that uses the runtime is answered 800 (CH01)") {
  Fixture f(options(""));
  const Ref<Stream> stream = f.stream("s");
  auto graph = make_ref<Graph>(f.runtime, GraphOrigin::kExplicit);
  Ref<Exec> exec;
  OK(Exec::instantiate(graph, exec));
  Callback callback;
  callback.stream = stream.get();
  callback.exec = exec.get();
  auto function = make_ref<HostFunction>("misbehave", misbehave);
  Callback* const pointer = &callback;
  std::memcpy(function->params.resize(sizeof pointer), &pointer, sizeof pointer);
  OK(host(*stream, function));
  OK(stream->synchronize_blocking(-1));
  CHECK(callback.submitted == 800 && callback.launched == 800 && callback.synchronized == 800);
  CHECK(f.fill(*stream, f.buffer(4), 1).ok());
  OK(stream->synchronize_blocking(-1));
}

// Chains of accumulations that nothing orders but edges, added in a random order of indices: the
// result of each buffer depends on the order of its chain.
TEST("graph: random edges order nodes whatever their indices are") {
  for (const char* schedule : {"parallel", "serial", "random", "adversarial"}) {
    Fixture f(options(std::string("\"schedule\":\"") + schedule + "\",\"seed\":7"));
    const Ref<Stream> stream = f.stream("s");
    std::mt19937 random(11);
    for (int round = 0; round < 20; ++round) {
      constexpr int kChains = 4;
      constexpr int kLength = 8;
      auto graph = make_ref<Graph>(f.runtime, GraphOrigin::kExplicit);
      std::vector<Ref<Buffer>> buffers;
      std::vector<int32_t> expected(kChains, 1);
      // Every chain's steps get indices in a random order.
      std::vector<int> order(kChains * kLength);
      for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
      std::shuffle(order.begin(), order.end(), random);
      std::vector<uint32_t> index(order.size());
      for (int chain = 0; chain < kChains; ++chain) {
        buffers.push_back(f.buffer(4));
        OK(f.fill(*stream, buffers.back(), 1));
      }
      for (const int step : order) {
        const Ref<Buffer>& y = buffers[static_cast<size_t>(step / kLength)];
        uint32_t node = 0;
        OK(add_node(*graph, accumulate_work(f, y, 3, step), {}, node));
        index[static_cast<size_t>(step)] = node;
      }
      for (int step = 0; step < kChains * kLength; ++step) {
        int32_t& y = expected[static_cast<size_t>(step / kLength)];
        y = wrap(y, 3, step);
        if (step % kLength == 0) continue;
        const uint32_t before = index[static_cast<size_t>(step - 1)];
        OK(add_dependency(*graph, before, {before}, index[static_cast<size_t>(step)]));
      }
      Ref<Exec> exec;
      OK(Exec::instantiate(graph, exec));
      OK(exec->launch(*stream));
      for (int chain = 0; chain < kChains; ++chain) {
        const auto at = static_cast<size_t>(chain);
        CHECK(f.ints(*stream, buffers[at]) == std::vector<int32_t>{expected[at]});
      }
    }
  }
}

TEST("graph: parameters change from one thread while another launches (T3)") {
  Fixture f(options(""));
  const Ref<Stream> stream = f.stream("s");
  const Ref<Buffer> y = f.buffer(4);
  OK(f.fill(*stream, y, 0));
  auto graph = make_ref<Graph>(f.runtime, GraphOrigin::kExplicit);
  uint32_t node = 0;
  OK(add_node(*graph, accumulate_work(f, y, 1, 1), {}, node));
  Ref<Exec> exec;
  OK(Exec::instantiate(graph, exec));
  std::thread setter([&] {
    for (int i = 0; i < 200; ++i) OK(set_work(*exec, node, accumulate_work(f, y, 1, 1)));
  });
  for (int i = 0; i < 200; ++i) OK(exec->launch(*stream));
  setter.join();
  CHECK(f.ints(*stream, y) == std::vector<int32_t>{200});
}

TEST("graph: what an update replaced lives as long as launches that use it (CG07, #30)") {
  Fixture f(options("\"poison\":true"));
  const Ref<Stream> stream = f.stream("s");
  Ref<Buffer> old = f.buffer(4, "old");
  const Ref<Buffer> fresh = f.buffer(4);
  const Ref<Buffer> seen = f.buffer(4);
  OK(f.fill(*stream, old, 5));
  OK(f.fill(*stream, fresh, 6));
  auto graph = make_ref<Graph>(f.runtime, GraphOrigin::kExplicit);
  const auto copy_work = [&](const Ref<Buffer>& from) {
    Ref<Work> work;
    OK(make_copy(*f.runtime, {seen, 0}, {from, 0}, 4, work));
    return work;
  };
  uint32_t node = 0;
  OK(add_node(*graph, copy_work(old), {}, node));
  Ref<Exec> exec;
  OK(Exec::instantiate(graph, exec));
  graph = nullptr;
  OK(f.spin(*stream, 20'000));
  OK(exec->launch(*stream));
  OK(set_work(*exec, node, copy_work(fresh)));
  old = nullptr;
  CHECK(f.ints(*stream, seen) == std::vector<int32_t>{5});
  OK(exec->launch(*stream));
  CHECK(f.ints(*stream, seen) == std::vector<int32_t>{6});
}

}  // namespace crt_test
