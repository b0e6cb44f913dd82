#include "napi/command_block.h"

namespace cuda_runtime::napi {
namespace {

// Words of the command block: `commandLayout` in src/native/binding.ts.
constexpr uint32_t kGrid = 0;
constexpr uint32_t kBlock = 3;
constexpr uint32_t kSharedBytes = 6;
constexpr uint32_t kFlags = 7;
constexpr uint32_t kCluster = 8;
constexpr uint32_t kPriority = 11;
constexpr uint32_t kBufferCount = 12;
constexpr uint32_t kParamsBytes = 13;
constexpr uint32_t kTriggeredEvent = 14;
constexpr uint32_t kStartedEvent = 15;
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

constexpr uint32_t kAtBlockStart = 16;  // a flag

core::Ref<core::Event> read_event(const Arguments& in, uint32_t handle) {
  return handle != 0 ? in.named<core::Event>(handle) : core::Ref<core::Event>();
}

bool is_kind(uint32_t handle, core::Kind kind) {
  return handle >> 28 == static_cast<uint32_t>(kind);
}

}  // namespace

Command read_command(const Arguments& in) {
  const uint32_t* block = in.environment().block;
  const uint64_t count = block != nullptr ? block[kBufferCount] : kBlockWords;
  const uint64_t params = (kBuffers + count * kBufferWords + 1) / 2 * 2;  // 8-byte aligned
  if (block == nullptr || params * 4 + block[kParamsBytes] > kBlockWords * 4) {
    in.finish(core::Status::argument("the command block does not hold a launch", "Fill it first"));
  }
  Command command;
  command.config = read_config(block);
  for (uint64_t i = 0; i < count; ++i) {
    const uint32_t* words = block + kBuffers + i * kBufferWords;
    if (is_kind(words[0], core::Kind::kCondition)) {
      command.conditions.push_back({in.named<core::GraphCondition>(words[0]), words[1]});
    } else {
      command.buffers.push_back(
          {in.named_memory(words[0]), words[1], wide(words + 2), wide(words + 4)});
    }
  }
  command.params = reinterpret_cast<const uint8_t*>(block + params);
  command.params_bytes = block[kParamsBytes];
  return command;
}

core::LaunchRequest read_launch(const Arguments& in, size_t kernel) {
  core::LaunchRequest request;
  request.kernel = in.record<core::Kernel>(kernel);
  Command command = read_command(in);
  request.config = command.config;
  request.buffers = std::move(command.buffers);
  request.conditions = std::move(command.conditions);
  request.params = command.params;
  request.params_bytes = command.params_bytes;
  const uint32_t* block = in.environment().block;
  request.events.triggered = read_event(in, block[kTriggeredEvent]);
  request.events.started = read_event(in, block[kStartedEvent]);
  request.events.at_block_start = (block[kFlags] & kAtBlockStart) != 0;
  return request;
}

}  // namespace cuda_runtime::napi
