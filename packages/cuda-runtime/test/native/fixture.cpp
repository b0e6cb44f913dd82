#include "fixture.h"

#include <cstring>
#include <fstream>
#include <sstream>

#include "failing_memory.h"
#include "runner.h"
#include "test_kernels/accumulate.h"
#include "test_kernels/empty.h"
#include "test_kernels/fill.h"
#include "test_kernels/spin.h"

namespace crt_test {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

}  // namespace

std::string options(const std::string& cpu, bool guards) {
  return std::string("{\"guards\":") + (guards ? "true" : "false") + ",\"cpu\":{" + cpu + "}}";
}

Fixture::Fixture(const std::string& options_json) {
  OK(Runtime::open("cpu", options_json, runtime));
  const std::string directory = TEST_KERNELS_DIRECTORY;
  OK(Module::load(*runtime, read_text(directory + "/manifest.json"), directory, module));
}

Ref<Stream> Fixture::stream(const std::string& name, bool blocking) {
  return runtime->create_stream(0, blocking, name);
}

Ref<Event> Fixture::event(bool timing) { return make_ref<Event>(runtime, timing); }

Ref<Buffer> Fixture::buffer(uint64_t bytes, const std::string& label) {
  Ref<Buffer> result;
  OK(runtime->allocate(bytes, label, false, result));
  return result;
}

Status Fixture::launch_bytes(Stream& stream, const std::string& kernel,
                             const std::vector<std::pair<uint32_t, Ref<Buffer>>>& buffers,
                             const uint8_t* params, uint32_t bytes, uint32_t flags) {
  Ref<Kernel>& loaded = kernels_[kernel];
  if (!loaded) loaded = module->kernel(kernel);
  LaunchRequest request;
  request.stream = Ref<Stream>(&stream);
  request.kernel = loaded;
  request.config.flags = flags;
  request.params = params;
  request.params_bytes = bytes;
  for (const auto& [field, buffer] : buffers) {
    request.buffers.push_back({buffer, field, 0, buffer->bytes()});
  }
  return cuda_runtime::core::launch(request);
}

Status Fixture::empty(Stream& stream) {
  return launch(stream, "test_empty", {}, EmptyParams{0});
}

Status Fixture::spin(Stream& stream, int64_t microseconds) {
  return launch(stream, "test_spin", {}, SpinParams{nullptr, microseconds});
}

Status Fixture::accumulate(Stream& stream, const Ref<Buffer>& y, int32_t factor, int32_t x) {
  const auto count = static_cast<int32_t>(y->bytes() / 4);
  return launch(stream, "test_accumulate", {{0, y}}, AccumulateParams{nullptr, count, factor, x});
}

Status Fixture::fill(Stream& stream, const Ref<Buffer>& y, int32_t value) {
  const auto count = static_cast<int32_t>(y->bytes() / 4);
  return launch(stream, "test_fill", {{0, y}}, FillParams{nullptr, count, value});
}

std::vector<int32_t> Fixture::ints(Stream& stream, const Ref<Buffer>& buffer) {
  auto sink = make_ref<Sink>();
  OK(read(stream, {buffer, 0}, buffer->bytes(), sink, 1));
  sink->wait(1);
  const std::vector<uint8_t> bytes = sink->staged(1);
  std::vector<int32_t> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

void expect_ok(const Status& status, const char* file, int line) {
  check(status.ok(), "status is ok", file, line, status.ok() ? "" : status.fault().detail);
}

void Sink::post(int64_t token, std::string status) {
  const Exempt exempt;
  LockGuard lock(mutex_);
  posts_[token].push_back(std::move(status));
  arrived_.notify_all();
}

void Sink::stage(int64_t token, std::unique_ptr<cuda_runtime::core::StagedBytes> bytes) {
  LockGuard lock(mutex_);
  staged_[token].assign(bytes->data(), bytes->data() + bytes->bytes());
}

std::string Sink::wait(int64_t token) {
  LockGuard lock(mutex_);
  while (posts_[token].empty()) arrived_.wait(mutex_);
  const auto expected = expected_.find(token);
  if (expected != expected_.end()) {
    expected->second.first->races().host_waited(*expected->second.second);
    expected_.erase(expected);
  }
  return posts_[token].front();
}

void Sink::expect(int64_t token, Ref<Runtime> runtime, Ref<Ticket> ticket) {
  LockGuard lock(mutex_);
  expected_[token] = {std::move(runtime), std::move(ticket)};
}

uint64_t Sink::posts(int64_t token) {
  LockGuard lock(mutex_);
  return posts_[token].size();
}

std::vector<uint8_t> Sink::staged(int64_t token) {
  LockGuard lock(mutex_);
  return staged_[token];
}

}  // namespace crt_test
