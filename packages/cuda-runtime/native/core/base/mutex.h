// A mutex that spins briefly before it sleeps: critical sections here are far shorter than a
// system call, and the JS thread should not pay for one per launch.
#pragma once

#include <pthread.h>
#include <time.h>

#include <cstdint>
#include <mutex>

namespace cuda_runtime::core {

class Mutex {
 public:
  Mutex() {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  ~Mutex() { pthread_mutex_destroy(&mutex_); }
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() { pthread_mutex_lock(&mutex_); }
  /// False at once when somebody holds it.
  bool try_lock() { return pthread_mutex_trylock(&mutex_) == 0; }
  void unlock() { pthread_mutex_unlock(&mutex_); }
  pthread_mutex_t* native() { return &mutex_; }

 private:
  pthread_mutex_t mutex_;
};

class LockGuard {
 public:
  explicit LockGuard(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  /// Of one that is locked; only the unlocking is left.
  LockGuard(Mutex& mutex, std::adopt_lock_t) : mutex_(mutex) {}
  ~LockGuard() { mutex_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Mutex& mutex_;
};

/// A condition variable on the steady clock.
class Condition {
 public:
  Condition() {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&condition_, &attributes);
    pthread_condattr_destroy(&attributes);
  }
  ~Condition() { pthread_cond_destroy(&condition_); }
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  /// The caller holds the mutex.
  void wait(Mutex& mutex) { pthread_cond_wait(&condition_, mutex.native()); }
  /// False when `deadline_ns` of the steady clock has passed.
  bool wait_until(Mutex& mutex, int64_t deadline_ns) {
    timespec time{};
    time.tv_sec = deadline_ns / 1'000'000'000;
    time.tv_nsec = deadline_ns % 1'000'000'000;
    return pthread_cond_timedwait(&condition_, mutex.native(), &time) == 0;
  }
  void notify_one() { pthread_cond_signal(&condition_); }
  void notify_all() { pthread_cond_broadcast(&condition_); }

 private:
  pthread_cond_t condition_;
};

}  // namespace cuda_runtime::core
