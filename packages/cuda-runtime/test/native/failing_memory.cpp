#include "failing_memory.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace crt_test {
namespace {

constexpr int64_t kNever = INT64_MAX / 2;

std::atomic<int64_t> granted_left{kNever};
std::atomic<bool> fails_ever_after{false};
std::atomic<int64_t> failed{0};
thread_local int exemptions = 0;

bool is_refused() {
  if (exemptions > 0) return false;
  const int64_t left = granted_left.fetch_sub(1);
  if (left > 0 || (left < 0 && !fails_ever_after.load())) return false;
  failed.fetch_add(1);
  return true;
}

}  // namespace

void fail_memory_after(int64_t granted, bool ever_after) {
  failed.store(0);
  fails_ever_after.store(ever_after);
  granted_left.store(granted);
}

int64_t restore_memory() {
  granted_left.store(kNever);
  return failed.load();
}

Exempt::Exempt() { ++exemptions; }
Exempt::~Exempt() { --exemptions; }

static void* obtain(std::size_t bytes, std::size_t alignment) {
  if (is_refused()) return nullptr;
  if (bytes == 0) bytes = 1;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void* obtain_or_throw(std::size_t bytes, std::size_t alignment) {
  void* memory = obtain(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace crt_test

// All of them: sanitizers bring their own of those that are left out, and mixing is an error.
void* operator new(std::size_t n) { return crt_test::obtain_or_throw(n, 1); }
void* operator new[](std::size_t n) { return crt_test::obtain_or_throw(n, 1); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return crt_test::obtain(n, 1); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
  return crt_test::obtain(n, 1);
}
void* operator new(std::size_t n, std::align_val_t a) {
  return crt_test::obtain_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return crt_test::obtain_or_throw(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
