#include "cpu/device/memory_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

namespace cuda_runtime::cpu {
namespace {

using core::LockGuard;

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kHugePage = 2u << 20;
constexpr uint64_t kHugeFrom = 8u << 20;  // larger blocks consist of whole huge pages
constexpr uint64_t kRedZone = 64;
constexpr uint64_t kLargestCached = 64u << 20;   // larger blocks go back to the system
constexpr uint64_t kCacheBytes = 512u << 20;
constexpr int kFresh = 0xA5;
constexpr int kFreed = 0xDD;
constexpr int kGuard = 0xFB;

uint64_t machine_bytes() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
}

uint64_t alignment_of(uint64_t block_bytes) {
  return block_bytes >= kHugeFrom ? kHugePage : kAlignment;
}

// Streaming weights through 4 KiB pages costs a tenth to a fifth of the bandwidth: prefetching ends
// at every page. The advice may be refused; the memory is the same then.
uint8_t* system_block(uint64_t size) {
  void* block = std::aligned_alloc(alignment_of(size), size);
#ifdef MADV_HUGEPAGE
  if (block != nullptr && size >= kHugeFrom) madvise(block, size, MADV_HUGEPAGE);
#endif
  return static_cast<uint8_t*>(block);
}

// Runs while a buffer ends, where nothing may be thrown; without memory the report is lost.
void report_damage(const std::string& label, uint64_t bytes, bool before, core::RaceCheck& races) {
  try {
    core::RaceReport report;
    report.kind = "red-zone";
    report.buffer = label;
    report.message = std::string("something wrote ") + (before ? "before" : "after") + " buffer " +
                     label + " of " + std::to_string(bytes) + " bytes";
    races.report(std::move(report));
  } catch (const std::bad_alloc&) {
  }
}

bool is_guard_intact(const uint8_t* zone) {
  return std::all_of(zone, zone + kRedZone, [](uint8_t byte) { return byte == kGuard; });
}

}  // namespace

MemoryPool::MemoryPool(uint64_t limit_bytes, bool poison)
    : limit_(limit_bytes == 0 ? machine_bytes() : limit_bytes), poison_(poison) {}

MemoryPool::~MemoryPool() { drop_cache(); }

// Sizes are rounded to eighths of a power of two, so that slightly different requests share blocks.
uint64_t MemoryPool::block_bytes(uint64_t bytes) const {
  const uint64_t padded = bytes + (poison_ ? 2 * kRedZone : 0);
  const uint64_t step = std::max<uint64_t>(alignment_of(padded), std::bit_floor(padded) / 8);
  return (padded + step - 1) / step * step;
}

core::Status MemoryPool::allocate(uint64_t bytes, const std::string& label, uint8_t*& data) {
  data = nullptr;
  if (bytes == 0) return {};
  uint8_t* block = nullptr;
  LockGuard lock(mutex_);
  const bool fits = bytes <= limit_ && in_use_ + bytes <= limit_;
  const uint64_t size = fits ? block_bytes(bytes) : 0;
  if (fits) {
    std::vector<uint8_t*>& reusable = free_[size];
    if (!reusable.empty()) {
      block = reusable.back();
      reusable.pop_back();
      cached_ -= size;
    } else {
      block = system_block(size);
      if (block == nullptr) {
        drop_cache();
        block = system_block(size);
      }
    }
  }
  if (block == nullptr) {
    return core::Status::error(
        "CRT_OOM", core::kMemoryAllocation,
        "no memory for " + std::to_string(bytes) + " bytes" +
            (label.empty() ? "" : " for " + label) + "; in use " + std::to_string(in_use_) +
            " of " + std::to_string(limit_),
        "Dispose buffers, use a smaller batch, or raise cpu.limitBytes");
  }
  in_use_ += bytes;
  peak_ = std::max(peak_, in_use_);
  data = block;
  if (poison_) {
    data = block + kRedZone;
    std::memset(block, kGuard, kRedZone);
    std::memset(data, kFresh, bytes);
    std::memset(data + bytes, kGuard, kRedZone);
  }
  return {};
}

void MemoryPool::release(uint8_t* data, uint64_t bytes, const std::string& label,
                         core::RaceCheck* races) {
  if (data == nullptr) return;
  uint8_t* block = data;
  if (poison_) {
    block = data - kRedZone;
    for (const bool before : {true, false}) {
      if (is_guard_intact(before ? block : data + bytes)) continue;
      report_damage(label, bytes, before, *races);
    }
    std::memset(data, kFreed, bytes);
  }
  const uint64_t size = block_bytes(bytes);
  LockGuard lock(mutex_);
  in_use_ -= bytes;
  if (size > kLargestCached || cached_ + size > kCacheBytes || !keep(size, block)) {
    std::free(block);
  }
}

// The caller holds the mutex; false when there is no memory to remember the block.
bool MemoryPool::keep(uint64_t size, uint8_t* block) {
  try {
    free_[size].push_back(block);
  } catch (const std::bad_alloc&) {
    return false;
  }
  cached_ += size;
  return true;
}

void MemoryPool::drop_cache() {
  for (auto& [size, blocks] : free_) {
    for (uint8_t* block : blocks) std::free(block);
  }
  free_.clear();
  cached_ = 0;
}

uint64_t MemoryPool::in_use() {
  LockGuard lock(mutex_);
  return in_use_;
}

uint64_t MemoryPool::peak() {
  LockGuard lock(mutex_);
  return peak_;
}

uint64_t MemoryPool::cached() {
  LockGuard lock(mutex_);
  return cached_;
}

}  // namespace cuda_runtime::cpu
