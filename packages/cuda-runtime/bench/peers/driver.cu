// What the CUDA runtime takes from C++ for the work that the benches beside it time: the floor
// under every runtime on this machine.
//
//   driver launch LAUNCHES | driver graph NODES...
//
// Prints one line of JSON: {"status": version, "us": {key: median microseconds}}. nvcc includes the
// header of the CUDA runtime by itself.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int kRuns = 40;

struct Params {
  int* y;
  long long count;
  int factor;
  int x;
};

__global__ void accumulate(__grid_constant__ const Params p) {
  if (threadIdx.x < p.count) p.y[threadIdx.x] = p.y[threadIdx.x] * p.factor + p.x;
}

__global__ void spin(long long nanoseconds) {
  long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  const long long end = now + nanoseconds;
  while (now < end) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
}

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

template <typename Run>
double median_us(Run run) {
  std::vector<double> times;
  for (int i = 0; i < kRuns; ++i) times.push_back(run());
  std::sort(times.begin(), times.end());
  return times[kRuns / 2];
}

struct Scene {
  cudaStream_t stream;
  int* y;
  Params params;

  Scene() {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaMalloc(&y, 64), "cudaMalloc");
    check(cudaMemset(y, 0, 64), "cudaMemset");
    params = {y, 16, 1, 1};
  }

  void launch() {
    void* arguments[] = {&params};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(256);
    config.stream = stream;
    check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(accumulate), arguments),
          "cudaLaunchKernelExC");
  }

  void wait() { check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); }

  void expect(int count) {
    int value = 0;
    wait();
    check(cudaMemcpy(&value, y, sizeof value, cudaMemcpyDeviceToHost), "cudaMemcpy");
    check(cudaMemset(y, 0, 64), "cudaMemset");
    if (value == count) return;
    std::fprintf(stderr, "counted %d, expected %d\n", value, count);
    std::exit(1);
  }
};

void add(std::string& json, const std::string& key, double us) {
  if (!json.empty()) json += ", ";
  json += "\"" + key + "\": " + std::to_string(us);
}

// The same kernel as a graph of one node whose parameters are set before each launch.
double call_as_graph_us(Scene& scene, int launches) {
  void* arguments[] = {&scene.params};
  cudaKernelNodeParams node_params = {};
  node_params.func = reinterpret_cast<void*>(accumulate);
  node_params.gridDim = dim3(1);
  node_params.blockDim = dim3(256);
  node_params.kernelParams = arguments;
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaGraphExec_t exec;
  check(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
  check(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &node_params), "cudaGraphAddKernelNode");
  check(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
  const auto submit = [&] {
    for (int i = 0; i < launches; ++i) {
      check(cudaGraphExecKernelNodeSetParams(exec, node, &node_params), "setting parameters");
      check(cudaGraphLaunch(exec, scene.stream), "cudaGraphLaunch");
    }
  };
  submit();
  scene.expect(launches);
  return median_us([&] {
    spin<<<1, 1, 0, scene.stream>>>(8'000'000);
    const double begin = now_us();
    submit();
    const double time = now_us() - begin;
    scene.wait();
    return time / launches;
  });
}

std::string launch(int launches) {
  Scene scene;
  for (int i = 0; i < launches; ++i) scene.launch();
  scene.expect(launches);
  std::string json;
  const auto submit = [&](int count) {
    const double begin = now_us();
    for (int i = 0; i < count; ++i) scene.launch();
    return begin;
  };
  add(json, "call", median_us([&] {
        spin<<<1, 1, 0, scene.stream>>>(8'000'000);
        const double begin = submit(launches);
        const double time = now_us() - begin;
        scene.wait();
        return time / launches;
      }));
  add(json, "throughput", median_us([&] {
        const double begin = submit(4 * launches);
        scene.wait();
        return (now_us() - begin) / (4 * launches);
      }));
  check(cudaMemset(scene.y, 0, 64), "cudaMemset");
  add(json, "call as graph", call_as_graph_us(scene, launches));
  return json;
}

void graph(int nodes, std::string& json) {
  Scene scene;
  scene.launch();  // loads the kernel
  scene.expect(1);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  check(cudaStreamBeginCapture(scene.stream, cudaStreamCaptureModeThreadLocal), "begin capture");
  for (int i = 0; i < nodes; ++i) scene.launch();
  check(cudaStreamEndCapture(scene.stream, &graph), "end capture");
  check(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
  const auto replay = [&] { check(cudaGraphLaunch(exec, scene.stream), "cudaGraphLaunch"); };
  for (int i = 0; i < 3; ++i) replay();
  scene.expect(3 * nodes);
  add(json, "call:" + std::to_string(nodes), median_us([&] {
        const double begin = now_us();
        replay();
        const double time = now_us() - begin;
        scene.wait();
        return time;
      }));
  add(json, "replay:" + std::to_string(nodes), median_us([&] {
        const double begin = now_us();
        replay();
        scene.wait();
        return now_us() - begin;
      }));
}

}  // namespace

int main(int count, char** values) {
  const std::string section = count > 2 ? values[1] : "";
  std::string json;
  if (section == "launch") {
    json = launch(std::atoi(values[2]));
  } else if (section == "graph") {
    for (int i = 2; i < count; ++i) graph(std::atoi(values[i]), json);
  } else {
    std::fprintf(stderr, "driver launch LAUNCHES | driver graph NODES...\n");
    return 2;
  }
  int version = 0;
  cudaRuntimeGetVersion(&version);
  std::printf("{\"status\": \"C++ with CUDA runtime %d.%d\", \"us\": {%s}}\n", version / 1000,
              version % 1000 / 10, json.c_str());
  return 0;
}
