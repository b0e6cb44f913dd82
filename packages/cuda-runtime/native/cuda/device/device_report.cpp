// What a device says of itself.
#include <cstdio>

#include "cuda/device/device.h"

namespace cuda_runtime::cuda {
namespace {

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

void write_triple(core::JsonWriter& json, const char* name, const int (&sizes)[3]) {
  json.key(name);
  json.begin_array();
  for (const int size : sizes) json.value(static_cast<int64_t>(size));
  json.end_array();
}

}  // namespace

void Device::write_info(core::JsonWriter& json) const {
  const cudaDeviceProp& device = properties_;
  const std::string sm = std::to_string(device.major) + "." + std::to_string(device.minor);
  json.field("name", std::string(device.name));
  json.field("uuid", uuid_text(device.uuid));
  json.field("sm", sm);
  json.key("limits");
  json.begin_object();
  json.field("sm", sm);
  json.field("processors", static_cast<int64_t>(device.multiProcessorCount));
  json.field("warpSize", static_cast<int64_t>(device.warpSize));
  json.field("maxThreadsPerBlock", static_cast<int64_t>(device.maxThreadsPerBlock));
  write_triple(json, "maxBlock", device.maxThreadsDim);
  write_triple(json, "maxGrid", device.maxGridSize);
  json.field("sharedBytes", static_cast<uint64_t>(device.sharedMemPerBlock));
  json.field("sharedBytesOptIn", static_cast<uint64_t>(device.sharedMemPerBlockOptin));
  json.field("maxClusterBlocks", static_cast<int64_t>(device.clusterLaunch ? 8 : 1));
  json.field("totalBytes", static_cast<uint64_t>(device.totalGlobalMem));
  json.end_object();
}

void Device::write_statistics(core::JsonWriter& json) const {
  uint64_t reserved = 0;
  if (!is_lost()) cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved);
  const uint64_t used = in_use_.load();
  json.field("bytesInUse", used);
  json.field("bytesPeak", peak_.load());
  json.field("bytesCached", reserved > used ? reserved - used : 0);
  json.field("stagingBytes", staging_.reserved());
  json.field("launchesByGraph", launches_by_graph_.load(std::memory_order_relaxed));
  json.field("reaperQueue", reaper_.waiting());
  json.key("waiterLatency");
  waiter_.latency().write(json);
}

}  // namespace cuda_runtime::cuda
