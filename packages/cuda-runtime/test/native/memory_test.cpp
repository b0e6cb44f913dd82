// Buffers, checks of launches and copies, lifetimes, the parallel pool, handles.
#include <atomic>
#include <thread>

#include "core/base/handle_table.h"
#include "cpu/parallel_pool.h"
#include "fixture.h"
#include "runner.h"
#include "test_kernels/parallel.h"
#include "test_kernels/rendezvous.h"

namespace crt_test {

using cuda_runtime::cpu::ParallelPool;

TEST("memory: sizes, limits, poison (CM09, CM10)") {
  Fixture fixture(options("\"poison\":true,\"limitBytes\":1048576"));
  const Ref<Stream> stream = fixture.stream("main");
  CHECK(fixture.buffer(0)->data() == nullptr);
  Ref<Buffer> huge;
  CHECK(number(fixture.runtime->allocate(uint64_t{1} << 50, "", false, huge)) == 2);
  CHECK(number(fixture.runtime->allocate(1'048'577, "", false, huge)) == 2);
  CHECK(fixture.ints(*stream, fixture.buffer(64))[3] == static_cast<int32_t>(0xA5A5A5A5));
  {
    const Ref<Buffer> broken = fixture.buffer(64, "broken");
    broken->data()[64] = 1;
  }
  CHECK(fixture.runtime->races().take().find("broken") != std::string::npos);
}

TEST("memory: large buffers lie on huge pages") {
  Fixture fixture(options(""));
  for (const uint64_t bytes : {uint64_t{8} << 20, (uint64_t{8} << 20) + 1, uint64_t{100} << 20}) {
    const Ref<Buffer> buffer = fixture.buffer(bytes);
    CHECK(reinterpret_cast<uintptr_t>(buffer->data()) % (2u << 20) == 0);
    buffer->data()[bytes - 1] = 1;
  }
  CHECK(reinterpret_cast<uintptr_t>(fixture.buffer(100)->data()) % 64 == 0);
}

TEST("memory: ranges are checked before anything is submitted") {
  Fixture fixture(options(""));
  const Ref<Stream> stream = fixture.stream("main");
  const Ref<Buffer> buffer = fixture.buffer(64, "small");
  CHECK(number(fill(*stream, {buffer, 60}, 0, 5)) == 1);
  CHECK(number(fill(*stream, {buffer, UINT64_MAX}, 0, 5)) == 1);
  CHECK(number(copy(*stream, {buffer, 0}, {buffer, 0}, 65)) == 1);
  CHECK(number(fill(*stream, {buffer, 64}, 0, 0)) == 0);
  LaunchRequest request;
  request.stream = stream;
  request.kernel = fixture.module->kernel("test_fill");
  const uint8_t params[16] = {};
  request.params = params;
  request.params_bytes = 16;
  CHECK(number(launch(request)) == 1);  // `y` is missing
  request.buffers.push_back({buffer, 0, 32, 33});
  CHECK(number(launch(request)) == 1);  // beyond the end
  request.buffers[0] = {buffer, 1, 0, 8};
  CHECK(number(launch(request)) == 1);  // not a buffer field
  request.buffers[0] = {buffer, 0, 0, 64};
  request.config.block.x = 257;
  CHECK(number(launch(request)) == 1);
  request.config.block.x = 256;
  request.config.flags = kClusterGiven;
  request.config.cluster.x = 2;
  CHECK(number(launch(request)) == 912);
  request.config.flags = 0;
  OK(launch(request));
  CHECK(!fixture.module->kernel("test_unknown"));
}

TEST("memory: work, graphs and launches in flight keep what they use") {
  Fixture fixture(options("\"poison\":true"));
  const Ref<Stream> stream = fixture.stream("main");
  Ref<Buffer> y = fixture.buffer(4, "y");
  const Ref<Buffer> kept = fixture.buffer(4, "kept");
  Ref<Graph> graph;
  OK(stream->begin_capture(1));
  OK(fixture.spin(*stream, 5000));
  OK(fixture.fill(*stream, y, 11));
  OK(copy(*stream, {kept, 0}, {y, 0}, 4));
  OK(stream->end_capture(graph));
  Ref<Exec> exec;
  OK(Exec::instantiate(graph, exec));
  y = nullptr;
  graph = nullptr;
  OK(exec->launch(*stream));
  OK(exec->launch(*stream));
  exec = nullptr;
  CHECK(fixture.ints(*stream, kept)[0] == 11);
  OK(stream->synchronize_blocking(-1));
  // The last completion releases on its own thread, an instant after it is visible.
  for (int i = 0; i < 1000 && fixture.runtime->live().count(Kind::kBuffer) > 1; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(fixture.runtime->live().count(Kind::kBuffer) == 1);
  CHECK(fixture.runtime->live().count(Kind::kExec) == 0);
}

TEST("streams: may be released with work pending (CE04)") {
  Fixture fixture(options(""));
  const Ref<Buffer> y = fixture.buffer(4, "y");
  const Ref<Event> event = fixture.event();
  {
    const Ref<Stream> stream = fixture.stream("short-lived");
    OK(fixture.spin(*stream, 10'000));
    OK(fixture.fill(*stream, y, 5));
    OK(event->record(*stream, false));
  }
  OK(event->wait_blocking());
  CHECK(fixture.ints(*fixture.stream("other"), y)[0] == 5);
}

TEST("parallel pool: covers each item once, cut by count, grain and threads alone") {
  ParallelPool pool(4);
  for (const int64_t count : {1, 7, 64, 1000, 100'000}) {
    for (const int64_t grain : {1, 16, 5000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
      struct Body {
        std::vector<std::atomic<int>>* seen;
        int64_t piece;
        std::atomic<int> wrong{0};
      } body{&seen, ParallelPool::piece_size(count, grain, 4)};
      pool.run(count, grain,
               [](void* argument, int64_t begin, int64_t end) {
                 auto& b = *static_cast<Body*>(argument);
                 const auto size = static_cast<int64_t>(b.seen->size());
                 if (begin % b.piece != 0 || end != std::min(size, begin + b.piece)) ++b.wrong;
                 for (int64_t i = begin; i < end; ++i) ++(*b.seen)[static_cast<size_t>(i)];
               },
               &body);
      bool once = body.wrong == 0;
      for (const std::atomic<int>& times : seen) once &= times == 1;
      CHECK(once);
    }
  }
}

TEST("parallel pool: several kernels use it at once") {
  Fixture fixture(options("\"threads\":3"));
  std::vector<Ref<Stream>> streams;
  std::vector<Ref<Buffer>> outputs;
  constexpr int64_t kCount = 20'000;
  for (int s = 0; s < 4; ++s) {
    streams.push_back(fixture.stream("s" + std::to_string(s)));
    outputs.push_back(fixture.buffer(kCount * 8));
  }
  for (int round = 0; round < 25; ++round) {
    for (int s = 0; s < 4; ++s) {
      OK(fixture.launch(*streams[s], "test_parallel", {{0, outputs[s]}},
                        ParallelParams{nullptr, kCount, 100}));
    }
  }
  for (int s = 0; s < 4; ++s) {
    const std::vector<int32_t> values = fixture.ints(*streams[s], outputs[s]);
    CHECK(values[2 * 7] == 49 && values[2 * 19'999] == 19'999 * 19'999);
  }
}

TEST("handles: stale and foreign ones are refused, owners release all") {
  Fixture fixture(options(""));
  HandleTable& table = HandleTable::instance();
  const Handle stream = table.add(fixture.stream("h"), 77);
  Ref<Stream> found;
  Ref<Buffer> wrong;
  OK(table.get<Stream>(stream, found));
  CHECK(table.get<Buffer>(stream, wrong).fault().code == "CRT_ARGUMENT");
  OK(table.remove(stream));
  CHECK(table.get<Stream>(stream, found).fault().code == "CRT_DISPOSED");
  CHECK(table.remove(stream).fault().code == "CRT_DISPOSED");
  const Handle other = table.add(fixture.stream("h"), 78);
  table.remove_owner(78);
  CHECK(!table.get<Stream>(other, found).ok());
}

}  // namespace crt_test
