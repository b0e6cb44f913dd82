// A vector whose first N elements need no allocation; most operations have few operands.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace cuda_runtime::core {

template <typename T, size_t N>
class InlineVector {
 public:
  InlineVector() = default;
  InlineVector(const InlineVector& other) {
    for (const T& item : other) push_back(item);
  }
  InlineVector(InlineVector&& other) noexcept { take(other); }
  InlineVector& operator=(InlineVector other) noexcept {
    clear();
    release_heap();
    take(other);
    return *this;
  }
  ~InlineVector() {
    clear();
    release_heap();
  }

  void push_back(T item) {
    if (size_ == capacity_) grow();
    new (data() + size_) T(std::move(item));
    ++size_;
  }
  /// Room for `count` elements, so that pushing them cannot fail.
  void reserve(size_t count) {
    while (capacity_ < count) grow();
  }
  void clear() {
    for (size_t i = 0; i < size_; ++i) data()[i].~T();
    size_ = 0;
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }

 private:
  T* data() { return heap_ != nullptr ? heap_ : reinterpret_cast<T*>(inline_); }
  const T* data() const { return heap_ != nullptr ? heap_ : reinterpret_cast<const T*>(inline_); }

  void grow() {
    const size_t capacity = capacity_ * 2;
    T* bigger = static_cast<T*>(::operator new(capacity * sizeof(T), std::align_val_t{alignof(T)}));
    for (size_t i = 0; i < size_; ++i) {
      new (bigger + i) T(std::move(data()[i]));
      data()[i].~T();
    }
    release_heap();
    heap_ = bigger;
    capacity_ = capacity;
  }
  void release_heap() {
    if (heap_ != nullptr) ::operator delete(heap_, std::align_val_t{alignof(T)});
    heap_ = nullptr;
    capacity_ = N;
  }
  void take(InlineVector& other) {
    if (other.heap_ != nullptr) {
      heap_ = std::exchange(other.heap_, nullptr);
      capacity_ = std::exchange(other.capacity_, N);
      size_ = std::exchange(other.size_, 0);
      return;
    }
    for (T& item : other) push_back(std::move(item));
    other.clear();
  }

  // First, beside the first elements: few objects use all of their room.
  T* heap_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = N;
  alignas(T) unsigned char inline_[N * sizeof(T)];
};

}  // namespace cuda_runtime::core
