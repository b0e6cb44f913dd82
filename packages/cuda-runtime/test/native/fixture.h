// A runtime with the test kernels, and short names for what tests do with it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/graph/exec.h"
#include "core/launch.h"
#include "core/runtime.h"
#include "core/stream/event.h"
#include "core/stream/stream.h"

namespace crt_test {

using namespace cuda_runtime::core;

/// Options as JSON; `cpu` is the inside of the cpu object.
std::string options(const std::string& cpu, bool guards = true);

class Fixture {
 public:
  explicit Fixture(const std::string& options_json);

  Ref<Stream> stream(const std::string& name, bool blocking = false);
  Ref<Event> event(bool timing = false);
  Ref<Buffer> buffer(uint64_t bytes, const std::string& label = {});

  /// Launches a kernel; buffers by field index, then the bytes of the struct.
  template <typename Params>
  Status launch(Stream& stream, const std::string& kernel,
                const std::vector<std::pair<uint32_t, Ref<Buffer>>>& buffers, const Params& params,
                uint32_t flags = 0) {
    return launch_bytes(stream, kernel, buffers, reinterpret_cast<const uint8_t*>(&params),
                        sizeof params, flags);
  }
  Status empty(Stream& stream);
  Status spin(Stream& stream, int64_t microseconds);
  Status accumulate(Stream& stream, const Ref<Buffer>& y, int32_t factor, int32_t x);
  Status fill(Stream& stream, const Ref<Buffer>& y, int32_t value);

  /// The buffer's content after everything on the stream.
  std::vector<int32_t> ints(Stream& stream, const Ref<Buffer>& buffer);

  Ref<Runtime> runtime;
  Ref<Module> module;

 private:
  Status launch_bytes(Stream& stream, const std::string& kernel,
                      const std::vector<std::pair<uint32_t, Ref<Buffer>>>& buffers,
                      const uint8_t* params, uint32_t bytes, uint32_t flags);
  std::map<std::string, Ref<Kernel>> kernels_;
};

/// CUDA's number of a status, 0 = success.
inline int number(const Status& status) { return status.ok() ? 0 : status.fault().number; }

/// Fails the test when the status is an error.
void expect_ok(const Status& status, const char* file, int line);

/// Collects completions.
class Sink : public CompletionSink {
 public:
  void post(int64_t token, std::string status) override;
  void stage(int64_t token, std::unique_ptr<cuda_runtime::core::StagedBytes> bytes) override;
  /// Blocks until the token came, and tells the race checker so; its status.
  std::string wait(int64_t token);
  void expect(int64_t token, Ref<Runtime> runtime, Ref<Ticket> ticket) override;
  uint64_t posts(int64_t token);
  std::vector<uint8_t> staged(int64_t token);

 private:
  Mutex mutex_;
  Condition arrived_;
  std::map<int64_t, std::vector<std::string>> posts_;
  std::map<int64_t, std::vector<uint8_t>> staged_;
  std::map<int64_t, std::pair<Ref<Runtime>, Ref<Ticket>>> expected_;
};

}  // namespace crt_test

#define OK(call) crt_test::expect_ok((call), __FILE__, __LINE__)
