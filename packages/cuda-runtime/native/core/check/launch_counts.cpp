#include "core/check/launch_counts.h"

namespace cuda_runtime::core {

uint64_t LaunchCounts::all() const {
  uint64_t sum = graphs();
  for (const Count& count : counts_) sum += count.load(std::memory_order_relaxed);
  return sum;
}

void LaunchCounts::write(JsonWriter& json) const {
  constexpr WorkKind kOnStreams[] = {WorkKind::kKernel, WorkKind::kCopy, WorkKind::kFill,
                                     WorkKind::kWrite,  WorkKind::kRead, WorkKind::kNotify,
                                     WorkKind::kHost};
  json.begin_object();
  for (const WorkKind kind : kOnStreams) {
    const Count& count = counts_[static_cast<size_t>(kind)];
    json.field(work_kind_name(kind), count.load(std::memory_order_relaxed));
  }
  json.field("graph", graphs());
  json.end_object();
}

}  // namespace cuda_runtime::core
