// One thread of the process that looks at each scheduler now and then. Where nothing has ended for
// too long it prints what waits for what, and rejects the waits.
#pragma once

#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "cpu/operation.h"

namespace cuda_runtime::cpu {

inline constexpr char kHangHint[] =
    "Look for a kernel that waits for something submitted later; raise cpu.hangMs if an operation "
    "takes that long";

/// What a look found: to be printed and posted when no lock is held.
struct HangReport {
  bool is_new = false;  // to be printed
  std::string picture;  // empty: all is well
  std::vector<Notice> notices;
};

/// What the watchdog looks at.
class Watched {
 public:
  virtual ~Watched() = default;
  virtual int64_t hang_ms() const = 0;
  virtual void look(int64_t now_ns, HangReport& report) = 0;
};

class Watchdog {
 public:
  static Watchdog& instance();
  /// Without a thread or memory for it there is no watchdog, which changes no result.
  void add(Watched& watched) noexcept;
  /// Returns when no look is under way.
  void remove(Watched& watched);

 private:
  void run();
  int64_t tick_ns();

  core::Mutex mutex_;  // guards the following; held while looking
  core::Condition changed_;
  std::vector<Watched*> watched_;
  bool is_running_ = false;
};

}  // namespace cuda_runtime::cpu
