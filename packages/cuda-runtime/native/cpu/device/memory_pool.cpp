#include "cpu/device/memory_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

#include "cpu/check/activity.h"
#include "cpu/device/move_bytes.h"

namespace cuda_runtime::cpu {
namespace {

using core::LockGuard;

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kHugePage = 2u << 20;
constexpr uint64_t kHugeFrom = 8u << 20;  // larger blocks consist of whole huge pages
constexpr uint64_t kRedZone = 64;
constexpr int kFresh = 0xA5;
constexpr int kFreed = 0xDD;
constexpr int kGuard = 0xFB;

uint64_t machine_bytes() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
}

// Streaming weights through 4 KiB pages costs a tenth to a fifth of the bandwidth: prefetching ends
// at every page. The advice may be refused; the memory is the same then.
uint8_t* system_block(uint64_t size, uint64_t alignment) {
  void* block = std::aligned_alloc(alignment, size);
#ifdef MADV_HUGEPAGE
  if (block != nullptr && size >= kHugeFrom) madvise(block, size, MADV_HUGEPAGE);
#endif
  return static_cast<uint8_t*>(block);
}

// Runs while a buffer ends, where nothing may be thrown; without memory the report is lost.
// `first` and `end` are of the damage, from the start of the buffer.
void report_damage(const std::string& label, uint64_t bytes, int64_t first, int64_t end,
                   core::RaceCheck& races) {
  try {
    const std::string size = std::to_string(bytes) + " bytes";
    const std::string buffer =
        label.empty() ? "a buffer of " + size : "buffer " + label + " (" + size + ")";
    core::RaceReport report;
    report.kind = "red-zone";
    report.buffer = label.empty() ? buffer : label;
    report.message = std::string("something wrote ") + (first < 0 ? "before" : "after") + " " +
                     buffer + ", its bytes " + std::to_string(first) + " to " +
                     std::to_string(end);
    races.report(std::move(report));
  } catch (const std::bad_alloc&) {
  }
}

void check_zones(const uint8_t* data, uint64_t bytes, const std::string& label,
                 core::RaceCheck& races) {
  const auto damaged = [](uint8_t byte) { return byte != kGuard; };
  for (const uint8_t* const zone : {data - kRedZone, data + bytes}) {
    const uint8_t* const end = zone + kRedZone;
    const uint8_t* const first = std::find_if(zone, end, damaged);
    if (first == end) continue;
    const uint8_t* last = end;
    while (!damaged(last[-1])) --last;
    report_damage(label, bytes, first - data, last - data, races);
  }
}

void set_zones(uint8_t* data, uint64_t bytes) {
  std::memset(data - kRedZone, kGuard, kRedZone);
  std::memset(data + bytes, kGuard, kRedZone);
}

}  // namespace

MemoryPool::MemoryPool(const MemoryOptions& options)
    : limit_(options.limit_bytes == 0 ? machine_bytes() : options.limit_bytes),
      options_(options),
      pages_(options.protect) {}

MemoryPool::~MemoryPool() { drop_cache(); }

// Protected memory has pages of its own.
uint64_t MemoryPool::alignment_of(uint64_t size) const {
  if (size >= kHugeFrom) return kHugePage;
  return options_.protect ? kPage : kAlignment;
}

// Sizes are rounded to eighths of a power of two, so that slightly different requests share blocks.
uint64_t MemoryPool::block_bytes(uint64_t bytes) const {
  const uint64_t padded = bytes + (options_.poison ? 2 * kRedZone : 0);
  const uint64_t step = std::max<uint64_t>(alignment_of(padded), std::bit_floor(padded) / 8);
  return (padded + step - 1) / step * step;
}

// The caller holds the mutex. A cached block, or one of the system, or null; `size` becomes its
// size.
uint8_t* MemoryPool::take(uint64_t& size) {
  for (size_t i = recent_.size(); i-- > 0;) {
    if (recent_[i].size < size) continue;
    const FreeBlock found = recent_[i];
    recent_.erase(recent_.begin() + static_cast<ptrdiff_t>(i));
    size = found.size;
    cached_ -= size;
    return found.block;
  }
  std::vector<uint8_t*>& reusable = free_[size];
  if (!reusable.empty()) {
    uint8_t* const block = reusable.back();
    reusable.pop_back();
    cached_ -= size;
    return block;
  }
  uint8_t* block = system_block(size, alignment_of(size));
  if (block != nullptr) return block;
  drop_cache();
  return system_block(size, alignment_of(size));
}

core::Status MemoryPool::allocate(uint64_t bytes, const std::string& label,
                                  core::MemoryPlace place, uint8_t*& data) {
  data = nullptr;
  if (bytes == 0) return {};
  uint8_t* block = nullptr;
  LockGuard lock(mutex_);
  const bool fits = bytes <= limit_ && in_use_ + bytes <= limit_;
  uint64_t size = fits ? block_bytes(bytes) : 0;
  if (fits) block = take(size);
  if (block != nullptr && options_.poison && !poison(block, bytes, label)) {
    std::free(block);
    block = nullptr;
  }
  if (block == nullptr) {
    return core::Status::error(
        "CRT_OOM", core::kMemoryAllocation,
        "no memory for " + std::to_string(bytes) + " bytes" +
            (label.empty() ? "" : " for " + label) + "; in use " + std::to_string(in_use_) +
            " of " + std::to_string(limit_),
        "Dispose buffers and wait for the work that uses them, use a smaller batch, or raise "
        "cpu.limitBytes");
  }
  data = options_.poison ? block + kRedZone : block;
  if (options_.reuse_any) larger_[block] = size;
  in_use_ += bytes;
  peak_ = std::max(peak_, in_use_);
  if (options_.protect && place == core::MemoryPlace::kDevice) pages_.add(data, block, size);
  return {};
}

// The caller holds the mutex; false when there is no memory to remember the block.
bool MemoryPool::poison(uint8_t* block, uint64_t bytes, const std::string& label) {
  uint8_t* const data = block + kRedZone;
  try {
    guarded_[data] = {bytes, label};
  } catch (const std::bad_alloc&) {
    guarded_.erase(data);
    return false;
  }
  set_zones(data, bytes);
  std::memset(data, kFresh, bytes);
  return true;
}

void MemoryPool::check_guards(core::RaceCheck& races) {
  LockGuard lock(mutex_);
  for (const auto& [data, guarded] : guarded_) {
    const PageGuard::Opened opened(pages_, data);
    check_zones(data, guarded.bytes, guarded.label, races);
    set_zones(data, guarded.bytes);
  }
}

core::Status MemoryPool::reserve(uint64_t bytes) {
  if (bytes == 0) return {};
  uint8_t* data = nullptr;
  core::Status status = allocate(bytes, "pool.initialBytes", core::MemoryPlace::kHost, data);
  if (!status.ok()) return status;
  std::memset(data, 0, bytes);
  release(data, bytes, "pool.initialBytes", core::MemoryPlace::kHost, nullptr);
  LockGuard lock(mutex_);
  peak_ = in_use_;
  return {};
}

void MemoryPool::release(uint8_t* data, uint64_t bytes, const std::string& label,
                         core::MemoryPlace place, core::RaceCheck* races) {
  if (data == nullptr) return;
  if (options_.protect && place == core::MemoryPlace::kDevice) pages_.remove(data);
  uint8_t* block = data;
  if (options_.poison) {
    {
      LockGuard lock(mutex_);
      guarded_.erase(data);
    }
    block = data - kRedZone;
    if (races != nullptr) check_zones(data, bytes, label, *races);
    fill_bytes(data, kFreed, bytes, Activity::advance);
  }
  uint64_t size = block_bytes(bytes);
  LockGuard lock(mutex_);
  if (const auto larger = larger_.find(block); larger != larger_.end()) {
    size = larger->second;
    larger_.erase(larger);
  }
  in_use_ -= bytes;
  const bool fits = size <= options_.keep_largest && size <= options_.keep_bytes &&
                    cached_ <= options_.keep_bytes - size;
  if (!fits || !keep(size, block)) std::free(block);
}

// The caller holds the mutex; false when there is no memory to remember the block.
bool MemoryPool::keep(uint64_t size, uint8_t* block) {
  try {
    if (options_.reuse_any) {
      recent_.push_back({size, block});
    } else {
      free_[size].push_back(block);
    }
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
  for (const FreeBlock& kept : recent_) std::free(kept.block);
  free_.clear();
  recent_.clear();
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
