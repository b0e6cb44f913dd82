#include "harness/scene.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <thread>

#include "harness/graphs.h"
#include "test_kernels/accumulate.h"
#include "test_kernels/empty.h"
#include "test_kernels/spin.h"

namespace conformance {
namespace {

cudaStreamCaptureMode mode_of(char letter) {
  if (letter == 'G') return cudaStreamCaptureModeGlobal;
  return letter == 'R' ? cudaStreamCaptureModeRelaxed : cudaStreamCaptureModeThreadLocal;
}

std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

Scene::Scene(std::string case_name, char mode_letter)
    : name(std::move(case_name)), mode(mode_of(mode_letter)) {}

bool Scene::open(const std::string& kernels_folder, std::string& why) {
  const auto good = [&](cudaError_t error, const char* what) {
    if (error != cudaSuccess) why = std::string(what) + ": " + cudaGetErrorString(error);
    return error == cudaSuccess;
  };
  if (!good(cudaSetDevice(0), "cudaSetDevice")) return false;
  if (!load_kernels(kernels_folder, why)) return false;
  for (cudaStream_t* stream : {&s1, &s2, &s3}) {
    if (!good(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "stream")) return false;
  }
  for (cudaStream_t* stream : {&b1, &b2}) {
    if (!good(cudaStreamCreate(stream), "blocking stream")) return false;
  }
  const size_t bytes = kCounters * sizeof(int32_t);
  return good(cudaMalloc(reinterpret_cast<void**>(&counters), bytes), "cudaMalloc") &&
         good(cudaMemset(counters, 0, bytes), "cudaMemset") && warm_up(why);
}

bool Scene::load_kernels(const std::string& folder, std::string& why) {
  const auto load = [&](const char* file) {
    const std::string path = folder + "/" + file;
    image = read_file(path);
    cudaLibrary_t loaded = nullptr;
    const cudaError_t error =
        image.empty() ? cudaErrorFileNotFound
                      : cudaLibraryLoadData(&loaded, image.data(), nullptr, nullptr, 0, nullptr,
                                            nullptr, 0);
    if (error != cudaSuccess) why = path + ": " + cudaGetErrorString(error);
    libraries_.push_back(loaded);
    return error == cudaSuccess;
  };
  const auto find = [&](cudaKernel_t& kernel, const char* entry) {
    const cudaError_t error = cudaLibraryGetKernel(&kernel, libraries_.back(), entry);
    if (error != cudaSuccess) why = std::string(entry) + ": " + cudaGetErrorString(error);
    return error == cudaSuccess;
  };
  if (!load("test_kernels.timing.fatbin") || !find(kernels.spin, "test_spin") ||
      !find(kernels.pdl_first, "test_pdl_first") || !find(kernels.pdl_second, "test_pdl_second")) {
    return false;
  }
  const bool is_loaded =
      load("test_kernels.elementwise.fatbin") && find(kernels.empty, "test_empty") &&
      find(kernels.fill, "test_fill") && find(kernels.accumulate, "test_accumulate") &&
      find(kernels.parallel, "test_parallel");
  kernel_library = libraries_.back();
  return is_loaded;
}

// Kernels are loaded to the device at their first launch, which would disturb rows about time.
bool Scene::warm_up(std::string& why) {
  k(s1);
  add(s1);
  spin(s1, 0);
  link(s1, s2);
  k(s2);
  cudaError_t error = cudaDeviceSynchronize();
  set_counter(0);
  // A small copy from pageable memory returns once it is staged; streams that do not block would
  // not wait for the rest (CU34).
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error != cudaSuccess) why = std::string("warm-up: ") + cudaGetErrorString(error);
  return error == cudaSuccess;
}

void Scene::put(const char* key, const std::string& value) const {
  std::printf("%s\t%s\n", key, value.c_str());
  std::fflush(stdout);
}

std::string Scene::end(cudaStream_t stream) {
  cudaGraph_t ended = nullptr;
  const cudaError_t error = cudaStreamEndCapture(stream, &ended);
  if (error != cudaSuccess) return std::to_string(int(error));
  graph = ended;
  return shape_of(ended);
}

std::string Scene::status(cudaStream_t stream) const {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream, &status);
  if (error != cudaSuccess) return std::to_string(int(error));
  if (status == cudaStreamCaptureStatusNone) return "N";
  return status == cudaStreamCaptureStatusActive ? "A" : "I";
}

cudaError_t Scene::k(cudaStream_t stream) {
  EmptyParams params = {0};
  return launch(kernels.empty, stream, &params);
}

cudaError_t Scene::add(cudaStream_t stream, int slot) {
  AccumulateParams params = {counters + slot, 1, 1, 1};
  return launch(kernels.accumulate, stream, &params);
}

cudaError_t Scene::spin(cudaStream_t stream, int milliseconds) {
  SpinParams params = {nullptr, int64_t{milliseconds} * 1000};
  return launch(kernels.spin, stream, &params);
}

cudaEvent_t Scene::event(bool has_timing) {
  cudaEvent_t made = nullptr;
  cudaEventCreateWithFlags(&made, has_timing ? cudaEventDefault : cudaEventDisableTiming);
  return made;
}

cudaEvent_t Scene::record(cudaStream_t stream) {
  const cudaEvent_t made = event();
  cudaEventRecord(made, stream);
  return made;
}

void Scene::link(cudaStream_t from, cudaStream_t to) { cudaStreamWaitEvent(to, record(from), 0); }

int Scene::counter(int slot) {
  int32_t value = -1;
  cudaDeviceSynchronize();
  cudaMemcpy(&value, counters + slot, sizeof value, cudaMemcpyDeviceToHost);
  return value;
}

void Scene::set_counter(int value, int slot) {
  const int32_t word = value;
  cudaMemcpy(counters + slot, &word, sizeof word, cudaMemcpyHostToDevice);
}

cudaError_t Scene::launch(cudaKernel_t kernel, cudaStream_t stream, void* params,
                          const LaunchTerms& terms) {
  std::vector<cudaLaunchAttribute> attributes = terms.attributes;
  cudaLaunchConfig_t config = {};
  config.gridDim = terms.grid;
  config.blockDim = terms.block;
  config.dynamicSmemBytes = terms.shared_bytes;
  config.stream = stream;
  config.attrs = attributes.data();
  config.numAttrs = static_cast<unsigned>(attributes.size());
  void* arguments[] = {params};
  return cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments);
}

void Scene::fork_and_join() {
  begin(s1);
  k(s1);
  link(s1, s2);
  k(s2);
  link(s2, s1);
}

void Scene::break_capture() {
  begin(s1);
  link(s1, s2);
  cudaStreamQuery(s1);
}

void Scene::finish() {
  put("after", status(s1));
  put("end", end(s1));
}

void Scene::put_usable() {
  const struct {
    const char* label;
    cudaStream_t stream;
  } streams[] = {{"S1", s1}, {"S2", s2}, {"S3", s3}, {"B1", b1}, {"B2", b2}};
  for (const auto& [label, stream] : streams) {
    if (stream == nullptr) continue;
    const std::string state = status(stream);
    const cudaError_t launched = k(stream);
    const cudaError_t waited = cudaStreamSynchronize(stream);
    if (state == "N" && launched == cudaSuccess && waited == cudaSuccess) continue;
    const std::string numbers = std::to_string(int(launched)) + " " + std::to_string(int(waited));
    return put("usable", std::string(label) + " " + state + " " + numbers);
  }
  put("usable", std::string("yes"));
}

void on_thread(const std::function<void()>& call) { std::thread(call).join(); }

}  // namespace conformance
