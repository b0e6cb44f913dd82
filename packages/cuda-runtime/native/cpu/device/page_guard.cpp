#include "cpu/device/page_guard.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

namespace cuda_runtime::cpu {
namespace {

using core::LockGuard;

// Refused only when the process has too many mappings; to go on would be a check that checks
// nothing.
void set_access(uint8_t* begin, uint64_t bytes, int access) {
  if (mprotect(begin, bytes, access) == 0) return;
  std::perror("cuda-runtime: cpu.protect: mprotect");
  std::abort();
}

}  // namespace

void PageGuard::add(const uint8_t* data, uint8_t* pages, uint64_t bytes) {
  LockGuard lock(mutex_);
  pages_[data] = {pages, bytes, 0};
  set_access(pages, bytes, PROT_NONE);
}

void PageGuard::remove(const uint8_t* data) {
  LockGuard lock(mutex_);
  const auto found = pages_.find(data);
  if (found == pages_.end()) return;
  set_access(found->second.begin, found->second.bytes, PROT_READ | PROT_WRITE);
  pages_.erase(found);
}

void PageGuard::use(const core::Work& work, bool begins) {
  LockGuard lock(mutex_);
  for (const core::Access& access : work.accesses) use(access.buffer->data(), begins);
}

// The caller holds the mutex.
void PageGuard::use(const uint8_t* data, bool begins) {
  const auto found = pages_.find(data);
  if (found == pages_.end()) return;  // a host buffer, or an empty one
  Pages& pages = found->second;
  if (begins && pages.users++ == 0) {
    set_access(pages.begin, pages.bytes, PROT_READ | PROT_WRITE);
  } else if (!begins && --pages.users == 0) {
    set_access(pages.begin, pages.bytes, PROT_NONE);
  }
}

PageGuard::Use::Use(PageGuard& guard, const core::Work& work) : guard_(guard), work_(work) {
  if (guard_.is_enabled()) guard_.use(work_, true);
}

PageGuard::Use::~Use() {
  if (guard_.is_enabled()) guard_.use(work_, false);
}

PageGuard::Opened::Opened(PageGuard& guard, const uint8_t* data) : guard_(guard), data_(data) {
  LockGuard lock(guard_.mutex_);
  guard_.use(data_, true);
}

PageGuard::Opened::~Opened() {
  LockGuard lock(guard_.mutex_);
  guard_.use(data_, false);
}

}  // namespace cuda_runtime::cpu
