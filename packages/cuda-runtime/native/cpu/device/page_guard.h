// Makes device memory inaccessible but to the operations that name it: whoever reads or writes it
// through a pointer that was kept ends with a segmentation fault at that instruction.
#pragma once

#include <cstdint>
#include <map>

#include "core/base/mutex.h"
#include "core/work.h"

namespace cuda_runtime::cpu {

class PageGuard {
 public:
  explicit PageGuard(bool enabled) : enabled_(enabled) {}
  bool is_enabled() const { return enabled_; }

  /// Closes whole pages; `data` is what the buffer calls its memory.
  void add(const uint8_t* data, uint8_t* pages, uint64_t bytes);
  /// Opens them for good.
  void remove(const uint8_t* data);

  /// The memory of one operation is open while this exists.
  class Use {
   public:
    Use(PageGuard& guard, const core::Work& work);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    PageGuard& guard_;
    const core::Work& work_;
  };

  /// The same for the memory that a buffer calls `data`.
  class Opened {
   public:
    Opened(PageGuard& guard, const uint8_t* data);
    ~Opened();
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;

   private:
    PageGuard& guard_;
    const uint8_t* const data_;
  };

 private:
  struct Pages {
    uint8_t* begin = nullptr;
    uint64_t bytes = 0;
    uint32_t users = 0;
  };
  void use(const core::Work& work, bool begins);
  void use(const uint8_t* data, bool begins);

  const bool enabled_;
  core::Mutex mutex_;
  std::map<const uint8_t*, Pages> pages_;
};

}  // namespace cuda_runtime::cpu
