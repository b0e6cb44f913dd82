// Intrusive reference counts: one pointer each, no control block, cheap on the launch path.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace cuda_runtime::core {

/// Base of everything that several owners keep alive.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  virtual ~RefCounted() = default;

  void retain() const { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  /// False when the object is already on its way out; for tables of raw pointers.
  bool try_retain() const {
    uint32_t count = references_.load(std::memory_order_relaxed);
    while (count != 0) {
      if (references_.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) {
        return true;
      }
    }
    return false;
  }
  /// With 1, whatever other owners did is over and visible.
  uint32_t references() const { return references_.load(std::memory_order_acquire); }

 private:
  mutable std::atomic<uint32_t> references_{0};
};

/// An owning pointer to a RefCounted object.
template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* object) : object_(object) {
    if (object_ != nullptr) object_->retain();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <typename U>
  Ref(Ref<U> other) : object_(other.detach()) {}
  ~Ref() {
    if (object_ != nullptr) object_->release();
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const Ref& other) const { return object_ == other.object_; }

  /// Gives the reference up without releasing it.
  T* detach() { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

/// Takes over a reference that `try_retain` made.
template <typename T>
Ref<T> adopt_ref(T* object) {
  Ref<T> reference(object);
  object->release();
  return reference;
}

template <typename T, typename... Arguments>
Ref<T> make_ref(Arguments&&... arguments) {
  return Ref<T>(new T(std::forward<Arguments>(arguments)...));
}

}  // namespace cuda_runtime::core
