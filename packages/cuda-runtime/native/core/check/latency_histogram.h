// How often something took how long; adding is one atomic operation.
#pragma once

#include <array>
#include <atomic>

#include "core/base/json.h"

namespace cuda_runtime::core {

class LatencyHistogram {
 public:
  void add(int64_t ns) {
    size_t at = 0;
    while (at < kBoundsUs.size() && ns > kBoundsUs[at] * 1000) ++at;
    counts_[at].fetch_add(1, std::memory_order_relaxed);
  }
  /// As `LatencyHistogram` of src/report.ts.
  void write(JsonWriter& json) const {
    json.begin_object();
    json.key("boundsUs");
    json.begin_array();
    for (const int64_t bound : kBoundsUs) json.value(bound);
    json.end_array();
    json.key("counts");
    json.begin_array();
    for (const std::atomic<uint64_t>& count : counts_) json.value(count.load());
    json.end_array();
    json.end_object();
  }

 private:
  static constexpr std::array<int64_t, 10> kBoundsUs{10,   20,   50,    100,   200,
                                                     500, 1000, 10000, 100000, 1000000};
  std::array<std::atomic<uint64_t>, kBoundsUs.size() + 1> counts_{};
};

}  // namespace cuda_runtime::core
