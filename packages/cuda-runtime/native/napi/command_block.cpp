#include "napi/command_block.h"

#include <cstring>

#include "core/base/handle_table.h"

namespace cuda_runtime::napi {
namespace {

using core::HandleTable;
using core::Kind;
using core::LaunchRequest;
using core::Status;

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
constexpr uint32_t kStream = 16;
constexpr uint32_t kKernel = 17;
constexpr uint32_t kBuffers = 18;
constexpr uint32_t kBufferWords = 6;
constexpr uint32_t kBlockWords = 65'536 / 4;

constexpr uint32_t kAtBlockStart = 16;  // a flag

// A count of bytes, which JavaScript keeps as a double. What is none is beyond every buffer.
uint64_t bytes_at(const uint32_t* words) {
  double value = 0;
  std::memcpy(&value, words, sizeof value);
  return value >= 0 && value < 0x1p63 ? static_cast<uint64_t>(value) : UINT64_MAX;
}

core::Dim3 dims(const uint32_t* words) { return {words[0], words[1], words[2]}; }

void read_config(const uint32_t* block, core::LaunchConfig& config) {
  config.grid = dims(block + kGrid);
  config.block = dims(block + kBlock);
  config.shared_bytes = block[kSharedBytes];
  config.flags = block[kFlags];
  config.cluster = dims(block + kCluster);
  config.priority = static_cast<int32_t>(block[kPriority]);
}

Status read_entry(HandleTable::Lookup& table, const uint32_t* words, LaunchRequest& request) {
  const uint32_t handle = words[0];
  const auto kind = static_cast<Kind>(handle >> 28);
  if (kind == Kind::kCondition) {
    core::ConditionField& field = request.conditions.emplace_back();
    field.field = words[1];
    return table.get(handle, field.condition);
  }
  request.buffers.push_back({nullptr, words[1], bytes_at(words + 2), bytes_at(words + 4)});
  const Kind memory = kind == Kind::kHostBuffer ? Kind::kHostBuffer : Kind::kBuffer;
  return table.get(handle, request.buffers.back().buffer, memory);
}

Status read_entries(HandleTable::Lookup& table, const uint32_t* block, LaunchRequest& request) {
  const uint64_t count = block != nullptr ? block[kBufferCount] : kBlockWords;
  const uint64_t params = (kBuffers + count * kBufferWords + 1) / 2 * 2;  // 8-byte aligned
  if (block == nullptr || params * 4 + block[kParamsBytes] > kBlockWords * 4) {
    return Status::argument("the command block does not hold a launch", "Fill it first");
  }
  for (uint64_t i = 0; i < count; ++i) {
    const uint32_t* const words = block + kBuffers + i * kBufferWords;
    if (words[0] == 0) continue;  // a null, or a number where a condition could be
    Status status = read_entry(table, words, request);
    if (!status.ok()) return status;
  }
  request.params = reinterpret_cast<const uint8_t*>(block + params);
  request.params_bytes = block[kParamsBytes];
  return {};
}

Status read_events(HandleTable::Lookup& table, const uint32_t* block, core::LaunchEvents& events) {
  events.at_block_start = (block[kFlags] & kAtBlockStart) != 0;
  Status status;
  if (block[kTriggeredEvent] != 0) status = table.get(block[kTriggeredEvent], events.triggered);
  if (status.ok() && block[kStartedEvent] != 0) {
    status = table.get(block[kStartedEvent], events.started);
  }
  return status;
}

Status read_rest(HandleTable::Lookup& table, const uint32_t* block, LaunchRequest& request) {
  Status status = read_entries(table, block, request);
  if (!status.ok()) return status;
  read_config(block, request.config);
  return read_events(table, block, request.events);
}

}  // namespace

Status read_launch(const uint32_t* block, LaunchRequest& request) {
  HandleTable::Lookup table;
  if (block == nullptr) return read_entries(table, block, request);
  Status status = table.get(block[kStream], request.stream);
  if (status.ok()) status = table.get(block[kKernel], request.kernel);
  return status.ok() ? read_rest(table, block, request) : std::move(status);
}

Status read_node(const uint32_t* block, LaunchRequest& request) {
  HandleTable::Lookup table;
  return read_rest(table, block, request);
}

Status read_arguments(const uint32_t* block, LaunchRequest& request) {
  HandleTable::Lookup table;
  return read_entries(table, block, request);
}

}  // namespace cuda_runtime::napi
