// What the watchdog asks of a scheduler: whether it hangs, and a picture of what waits for what.
#include <map>
#include <set>

#include "core/base/clock.h"
#include "cpu/check/activity.h"
#include "cpu/scheduler.h"

namespace cuda_runtime::cpu {
namespace {

using core::LockGuard;

constexpr size_t kMostLines = 40;

std::string name_of(const Operation& operation) {
  std::string what = "mark";
  if (operation.type == OperationType::kGraph) what = "graph";
  if (operation.type == OperationType::kWork) what = "work that has run";
  if (operation.work) what = operation.work->label();
  return what + " (operation " + std::to_string(operation.number) + ")";
}

std::string stream_of(const Operation& operation) {
  return operation.stream ? operation.stream->display_name() : std::string("?");
}

}  // namespace

// The caller holds the mutex.
void Scheduler::list(Operation& operation) {
  operation.earlier = last_live_;
  (last_live_ != nullptr ? last_live_->later : first_live_) = &operation;
  last_live_ = &operation;
}

// The caller holds the mutex. Records of a graph's launch were never submitted.
void Scheduler::unlist(Operation& operation) {
  if (operation.number == 0) return;
  (operation.earlier != nullptr ? operation.earlier->later : first_live_) = operation.later;
  (operation.later != nullptr ? operation.later->earlier : last_live_) = operation.earlier;
  operation.earlier = nullptr;
  operation.later = nullptr;
}

void Scheduler::look(int64_t now_ns, HangReport& report) {
  const uint64_t advanced = Activity::visit(*this, [](const Activity::View&) {});
  LockGuard lock(mutex_);
  const uint64_t progress = advanced + pool_.progress() + completed_;
  if (first_live_ == nullptr || progress != seen_progress_ || quiet_since_ns_ == 0) {
    seen_progress_ = progress;
    quiet_since_ns_ = now_ns;
    has_reported_ = false;
    return;
  }
  const int64_t quiet_ms = (now_ns - quiet_since_ns_) / 1'000'000;
  if (quiet_ms < hang_ms()) return;
  std::string text = picture(quiet_ms);
  for (Operation* live = first_live_; live != nullptr; live = live->later) {
    core::InlineVector<Notice, 1> kept;
    for (Notice& notice : live->notices) {
      if (*notice.api == '\0') {
        kept.push_back(notice);
      } else {
        report.notices.push_back(notice);
      }
    }
    if (kept.size() != live->notices.size()) live->notices = std::move(kept);
  }
  report.picture = text;
  report.is_new = !has_reported_;
  has_reported_ = true;
  hang_text_ = std::move(text);
  ++hangs_;
  quiet_since_ns_ = now_ns;  // later waits get as long
  progress_.notify_all();
}

// The caller holds the mutex.
std::string Scheduler::picture(int64_t quiet_ms) {
  std::map<const Operation*, std::string> running;
  Activity::visit(*this, [&](const Activity::View& view) {
    std::string& text = running[view.call.operation];
    text += text.empty() ? "" : ", ";
    if (view.call.plan != nullptr) {
      text += "node " + std::to_string(view.call.node) + " " + view.work.label() + " ";
    }
    text += "runs on thread " + std::to_string(view.thread);
  });
  std::map<const Operation*, std::string> waits;
  std::map<uint64_t, size_t> pending;
  size_t count = 0;
  for (const Operation* live = first_live_; live != nullptr; live = live->later, ++count) {
    ++pending[live->stream_id];
    for (const Successor* s = live->successors.first(); s != nullptr; s = s->next) {
      if (s->operation == nullptr) continue;
      std::string& text = waits[s->operation];
      text += (text.empty() ? "waits for " : ", ") + name_of(*live) + " of " + stream_of(*live);
    }
  }
  std::string text = "no operation has ended for " + std::to_string(quiet_ms) + " ms while " +
                     std::to_string(count) + " are pending";
  std::set<uint64_t> seen;
  for (const Operation* live = first_live_; live != nullptr; live = live->later) {
    if (!seen.insert(live->stream_id).second) continue;
    if (seen.size() > kMostLines) return text + "\n  …";
    text += "\n  stream " + stream_of(*live) + ": " + std::to_string(pending[live->stream_id]) +
            " pending, head " + name_of(*live) + " ";
    const auto runs = running.find(live);
    const auto blocked = waits.find(live);
    if (runs != running.end()) {
      text += runs->second;
    } else if (blocked != waits.end()) {
      text += blocked->second;
    } else if (live->type == OperationType::kGraph) {
      // Between two turns of a loop no thread has a node of it.
      text += "is a graph of which no node runs just now; a loop that nothing ends looks like this";
    } else {
      text += "is ready and no thread runs it";
    }
  }
  return text;
}

}  // namespace cuda_runtime::cpu
