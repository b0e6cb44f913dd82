#include "cuda/queue/queue.h"

#include "core/base/clock.h"
#include "core/base/failure.h"
#include "cuda/device/device.h"
#include "cuda/driver.h"

namespace cuda_runtime::cuda {

using core::LockGuard;
using core::Ref;

Queue::Queue(Device& device, cudaStream_t stream, std::string name, bool owned, bool is_plain)
    : device_(device),
      stream_(stream),
      name_(std::move(name)),
      owned_(owned),
      is_plain_(is_plain) {}

// Kept before it is issued: after the driver took it nothing may fail.
void Queue::begin(InFlight entry) {
  watch();
  items_.push_back(std::move(entry));
  count(1);
}

void Queue::refused(cudaError_t error, const std::string& what) {
  items_.pop_back();
  count(-1);
  throw core::StatusException(device_.fail(error, what));
}

void Queue::submitted(bool has_mark) {
  ++submissions_;
  if (has_mark) {
    ++open_marks_;
    unmarked_ = 0;
    items_.back().mark->record(stream_);
  } else if (++unmarked_ >= kMarkInterval) {
    add_private_mark();
  }
}

Ref<Mark> Queue::append_mark(bool timing, Notice* notice, bool is_private) {
  watch();
  auto mark = core::make_ref<Mark>(device_, timing);
  items_.push_back({nullptr, nullptr, mark, is_private, nullptr});
  try {
    mark->record(stream_);
  } catch (...) {
    items_.pop_back();
    throw;
  }
  ++open_marks_;
  unmarked_ = 0;
  if (!is_private) count(1);
  if (notice != nullptr && notice->sink) mark->add_notice(*notice);
  return mark;
}

// A mark of our own is a convenience: the waiter tries again later.
bool Queue::add_private_mark() noexcept {
  if (stream_ == nullptr || closed_) return false;
  try {
    append_mark(false, nullptr, true);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void Queue::watch() {
  if (watched_) return;
  device_.waiter().watch(Ref<Queue>(this));
  watched_ = true;
}

Ref<Mark> Queue::mark(bool timing, Notice notice) {
  const bool hurry = static_cast<bool>(notice.sink);
  Ref<Mark> mark;
  {
    LockGuard lock(mutex_);
    mark = append_mark(timing, &notice, false);
  }
  if (hurry) device_.waiter().hurry();
  return mark;
}

Ref<Mark> Queue::tail() {
  LockGuard lock(mutex_);
  if (items_.empty()) return nullptr;
  if (items_.back().mark) {
    const Ref<Mark> last = items_.back().mark;
    return last->poll() ? nullptr : last;
  }
  return append_mark(false, nullptr, true);
}

// For the waiter: whether nothing was submitted for a while.
bool Queue::is_quiet() {
  const int64_t now = core::now_ns();
  if (seen_submissions_ == submissions_) return now - seen_ns_ > kQuietNs;
  seen_submissions_ = submissions_;
  seen_ns_ = now;
  return false;
}

void Queue::visit(const std::function<void(const core::SubmittedWork&)>& visitor) {
  LockGuard lock(mutex_);
  for (const InFlight& item : items_) {
    if (!item.work && !item.exec) continue;
    visitor({name_, nullptr, item.work.get(), item.exec.get(), item.graph.get()});
  }
}

bool Queue::reap(Reaped& reaped) {
  if (head_ && !head_->poll()) return true;
  head_ = nullptr;
  LockGuard lock(mutex_);
  while (open_marks_ > 0) {
    size_t at = 0;
    while (!items_[at].mark) ++at;
    if (!items_[at].mark->poll()) {
      head_ = items_[at].mark;
      return true;
    }
    for (size_t i = 0; i <= at; ++i) {
      InFlight& item = items_.front();
      if (item.work && item.work->kernel && !device_.is_lost()) last_good_ = item.work->kernel;
      const bool is_counted = !item.is_private;
      reaped.push_back(std::move(item));  // may throw, and then the item is still here
      items_.pop_front();
      if (is_counted) count(-1);
    }
    --open_marks_;
  }
  if (device_.is_lost() && last_good_) device_.note_last_good(last_good_->name());
  if (device_.is_lost() || (closed_ && !items_.empty())) {
    // Nothing more will be reported of these. A closed stream recorded a mark at its end, behind
    // which nothing can be.
    for (InFlight& item : items_) reaped.push_back(std::move(item));
    items_.clear();
    pending_.store(0, std::memory_order_relaxed);
    unmarked_ = 0;
  }
  if (!items_.empty()) {
    if (is_quiet()) add_private_mark();
    return true;
  }
  watched_ = false;
  last_good_ = nullptr;
  return false;
}

Ref<Mark> Queue::close() {
  LockGuard lock(mutex_);
  if (closed_) return nullptr;
  // Without a mark nobody would learn when the rest is over.
  const bool is_open = unmarked_ > 0 && !device_.is_lost();
  if (is_open && !add_private_mark()) cudaStreamSynchronize(stream_);
  closed_ = true;
  if (owned_) device_.reaper().destroy_stream(stream_);
  stream_ = nullptr;
  return items_.empty() ? Ref<Mark>() : items_.back().mark;
}

}  // namespace cuda_runtime::cuda
