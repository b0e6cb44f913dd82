// What a row plays with: the streams, kernels and counters of the table, and the raw CUDA calls
// under the table's short names. Lives in a child process.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

namespace conformance {

/// Kernels of test/kernels.
struct Kernels {
  cudaKernel_t empty = nullptr;
  cudaKernel_t spin = nullptr;
  cudaKernel_t fill = nullptr;
  cudaKernel_t accumulate = nullptr;
  cudaKernel_t parallel = nullptr;  // looked up, but not launched before a row does
  cudaKernel_t pdl_first = nullptr;
  cudaKernel_t pdl_second = nullptr;
};

/// How a kernel is started.
struct LaunchTerms {
  dim3 grid = dim3(1);
  dim3 block = dim3(1);
  size_t shared_bytes = 0;
  std::vector<cudaLaunchAttribute> attributes = {};
};

class Scene {
 public:
  Scene(std::string case_name, char mode_letter);

  /// Device 0, kernels, streams, counters. False when it cannot; `why` then says where.
  bool open(const std::string& kernels_folder, std::string& why);

  bool is(const char* case_name) const { return name == case_name; }
  /// Prints one observation at once, since the process may die.
  void put(const char* key, const std::string& value) const;
  void put(const char* key, cudaError_t error) const { put(key, std::to_string(int(error))); }
  void put(const char* key, int number) const { put(key, std::to_string(number)); }

  // The table's operations.
  cudaError_t begin(cudaStream_t stream) { return cudaStreamBeginCapture(stream, mode); }
  /// `ok nodes/edges`, or the number; keeps the graph.
  std::string end(cudaStream_t stream);
  /// N, A, I, or the number that the question answers.
  std::string status(cudaStream_t stream) const;
  /// K: the empty kernel.
  cudaError_t k(cudaStream_t stream);
  /// Adds one to a counter.
  cudaError_t add(cudaStream_t stream, int slot = 0);
  /// Runs for a while.
  cudaError_t spin(cudaStream_t stream, int milliseconds);
  cudaEvent_t event(bool has_timing = false);
  cudaEvent_t record(cudaStream_t stream);
  /// `to` waits for what `from` has got so far.
  void link(cudaStream_t from, cudaStream_t to);
  /// A counter after all work; synchronises the device.
  int counter(int slot = 0);
  void set_counter(int value, int slot = 0);
  cudaError_t launch(cudaKernel_t kernel, cudaStream_t stream, void* params,
                     const LaunchTerms& terms = LaunchTerms());
  /// S1 began, K(S1), fork to S2, K(S2), joined.
  void fork_and_join();
  /// S1 began, S2 forked from it, and a query broke the capture.
  void break_capture();
  /// Puts `after` and `end` of a capture on S1.
  void finish();
  /// The handle is gone, so it is not asked whether it still works.
  void forget(cudaStream_t& stream) { stream = nullptr; }
  /// Puts `usable`: yes, or the stream that does not work any more.
  void put_usable();

  const std::string name;
  const cudaStreamCaptureMode mode;
  cudaStream_t s1 = nullptr, s2 = nullptr, s3 = nullptr, b1 = nullptr, b2 = nullptr;
  Kernels kernels;
  std::vector<char> image;  // a fatbin that can be loaded once more
  cudaLibrary_t kernel_library = nullptr;
  cudaGraph_t graph = nullptr;  // of the last good end
  int32_t* counters = nullptr;  // device memory, kCounters
  static constexpr int kCounters = 8;

 private:
  bool load_kernels(const std::string& folder, std::string& why);
  bool warm_up(std::string& why);
  std::vector<cudaLibrary_t> libraries_;
};

/// Another thread that does what it is told, one call at a time.
void on_thread(const std::function<void()>& call);

}  // namespace conformance
