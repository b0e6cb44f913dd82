// Memory that runs out on purpose. The test program's operator new obeys it; the core knows
// nothing.
#pragma once

#include <cstdint>

namespace crt_test {

/// Between now and `restore_memory`, the allocation after the next `granted` fails; with
/// `ever_after` all later ones too.
void fail_memory_after(int64_t granted, bool ever_after);
/// Ends that; how many allocations failed.
int64_t restore_memory();

/// While it lives, allocations of this thread do not fail and do not count.
class Exempt {
 public:
  Exempt();
  ~Exempt();
  Exempt(const Exempt&) = delete;
  Exempt& operator=(const Exempt&) = delete;
};

}  // namespace crt_test
