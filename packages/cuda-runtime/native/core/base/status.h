// The result of everything that can fail. Becomes a JavaScript exception in one place only
// (napi/throw_status.h) and a completion's text in another (to_json).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cuda_runtime::core {

/// CUDA runtime numbers that the core answers with, on every backend.
enum CudaNumber : int {
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInsufficientDriver = 35,
  kInvalidDevice = 101,
  kNoKernelImage = 209,
  kInvalidResourceHandle = 400,
  kIllegalState = 401,
  kSymbolNotFound = 500,
  kNotReady = 600,
  kNotPermitted = 800,
  kNotSupported = 801,
  kStreamCaptureUnsupported = 900,
  kStreamCaptureInvalidated = 901,
  kStreamCaptureMerge = 902,
  kStreamCaptureUnmatched = 903,
  kStreamCaptureUnjoined = 904,
  kStreamCaptureIsolation = 905,
  kStreamCaptureImplicit = 906,
  kCapturedEvent = 907,
  kStreamCaptureWrongThread = 908,
  kInvalidClusterSize = 912,
};

/// What was known when memory ran out.
struct MemoryFacts {
  uint64_t requested = 0;
  uint64_t free = 0;
  uint64_t reserved = 0;
  std::vector<std::pair<std::string, uint64_t>> largest;  // labels and bytes of live buffers
};

/// What a failure says; the fields of `NativeFault` in src/native/binding.ts.
struct Fault {
  std::string code;
  int number = 0;
  std::string detail;
  std::string hint;
  std::string stream;
  uint64_t capture_id = 0;
  std::string reason;  // CRT_UNAVAILABLE only
  // CRT_FILE_… only: path, byte concerned (-1: none), errno (0: none).
  std::string file;
  int64_t byte = -1;
  int system_error = 0;
  std::shared_ptr<const MemoryFacts> memory;  // CRT_OOM of an allocation only
  std::shared_ptr<const Fault> cause;  // what came before and led to it, where that is known
  const char* rule = "";  // row of the capture table by which a guard refused
};

/// Success is a null pointer: cheap to return from the launch path.
class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(Fault fault) : fault_(std::make_unique<Fault>(std::move(fault))) {}

  static Status error(const char* code, int number, std::string detail, std::string hint = {});
  /// A `CRT_ARGUMENT`.
  static Status argument(std::string detail, std::string hint = {});

  bool ok() const { return fault_ == nullptr; }
  const Fault& fault() const { return *fault_; }
  Fault& fault() { return *fault_; }
  Status&& on_stream(std::string name) &&;
  Status&& in_capture(uint64_t id) &&;
  /// Led to by a failure that is known.
  Status&& caused_by(const Status& earlier) &&;
  Status copy() const { return ok() ? Status() : Status(*fault_); }

 private:
  std::unique_ptr<Fault> fault_;
};

/// JSON of a `NativeFault` for completions.
std::string to_json(const Fault& fault, const char* api);

}  // namespace cuda_runtime::core
