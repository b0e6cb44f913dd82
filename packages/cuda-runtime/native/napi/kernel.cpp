// loadModule, moduleKernel, launch.
#include "core/launch.h"
#include "core/module.h"
#include "core/runtime.h"
#include "napi/arguments.h"
#include "napi/functions.h"

namespace cuda_runtime::napi {
namespace {

using core::Kernel;
using core::Module;
using core::Stream;

// Words of the command block: `commandLayout` in src/native/binding.ts.
constexpr uint32_t kGrid = 0;
constexpr uint32_t kBlock = 3;
constexpr uint32_t kSharedBytes = 6;
constexpr uint32_t kFlags = 7;
constexpr uint32_t kCluster = 8;
constexpr uint32_t kPriority = 11;
constexpr uint32_t kBufferCount = 12;
constexpr uint32_t kParamsBytes = 13;
constexpr uint32_t kBuffers = 16;
constexpr uint32_t kBufferWords = 6;
constexpr uint32_t kBlockWords = 65'536 / 4;

uint64_t wide(const uint32_t* words) { return words[0] | static_cast<uint64_t>(words[1]) << 32; }

core::Dim3 dims(const uint32_t* words) { return {words[0], words[1], words[2]}; }

core::LaunchConfig read_config(const uint32_t* block) {
  core::LaunchConfig config;
  config.grid = dims(block + kGrid);
  config.block = dims(block + kBlock);
  config.shared_bytes = block[kSharedBytes];
  config.flags = block[kFlags];
  config.cluster = dims(block + kCluster);
  config.priority = static_cast<int32_t>(block[kPriority]);
  return config;
}

Napi::Value load_module(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<core::Runtime> runtime = in.record<core::Runtime>(0);
  core::Ref<Module> module;
  in.finish(Module::load(*runtime, in.string(1), in.string(2), module));
  runtime->note_module(module->package());
  return in.handle_of(module);
}

Napi::Value module_kernel(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Kernel> kernel = in.record<Module>(0)->kernel(in.string(1));
  return kernel ? in.handle_of(kernel) : in.number(0);
}

Napi::Value kernel_code(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Kernel> kernel = in.record<Kernel>(0);
  core::JsonWriter json;
  json.begin_object();
  in.finish(kernel->module().runtime().backend().describe_kernel(*kernel, json));
  json.end_object();
  return in.text(json.take());
}

Napi::Value kernel_occupancy(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Kernel> kernel = in.record<Kernel>(0);
  int blocks = 0;
  in.finish(kernel->module().runtime().backend().occupancy(
      *kernel, static_cast<uint32_t>(in.size(1, "block")), in.size(2, "sharedBytes"), blocks));
  return in.number(blocks);
}

Napi::Value launch(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  const uint32_t* block = in.environment().block;
  core::LaunchRequest request;
  request.stream = stream.get();
  request.kernel = in.record<Kernel>(1);
  const uint64_t count = block != nullptr ? block[kBufferCount] : kBlockWords;
  const uint64_t params = (kBuffers + count * kBufferWords + 1) / 2 * 2;  // 8-byte aligned
  if (block == nullptr || params * 4 + block[kParamsBytes] > kBlockWords * 4) {
    in.finish(core::Status::argument("the command block does not hold a launch", "Fill it first"));
  }
  request.config = read_config(block);
  for (uint64_t i = 0; i < count; ++i) {
    const uint32_t* words = block + kBuffers + i * kBufferWords;
    request.buffers.push_back(
        {in.named<core::Buffer>(words[0]), words[1], wide(words + 2), wide(words + 4)});
  }
  request.params = reinterpret_cast<const uint8_t*>(block + params);
  request.params_bytes = block[kParamsBytes];
  in.finish(core::launch(request));
  return in.undefined();
}

}  // namespace

void export_kernel(Napi::Object& exports) {
  add_method<load_module>(exports, "loadModule", "runtime.loadModule");
  add_method<module_kernel>(exports, "moduleKernel", "module.kernel");
  add_method<kernel_code>(exports, "kernelCode", "kernel.code");
  add_method<kernel_occupancy>(exports, "kernelOccupancy", "kernel.occupancy");
  add_method<launch>(exports, "launch", "stream.launch");
}

}  // namespace cuda_runtime::napi
