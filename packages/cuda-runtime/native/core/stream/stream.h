// A FIFO of operations. Its functions check the capture state, then either record a node or hand
// the work to the backend.
#pragma once

#include <atomic>
#include <string>

#include "core/backend.h"
#include "core/check/trace.h"
#include "core/graph/capture.h"

namespace cuda_runtime::core {

class Runtime;

enum class StreamType : uint8_t { kNonBlocking, kBlocking, kLegacy };

class Stream : public Record {
 public:
  static constexpr Kind kKind = Kind::kStream;

  Stream(Ref<Runtime> runtime, StreamType type, int priority, std::string name);
  ~Stream() override;
  void on_handle_added() override { handles_.fetch_add(1); }
  void on_handle_released() override;

  Runtime& runtime() const { return *runtime_; }
  uint64_t id() const { return id_; }
  int priority() const { return priority_; }
  bool is_legacy() const { return type_ == StreamType::kLegacy; }
  /// Created as blocking: ordered with the legacy stream.
  bool is_blocking() const { return type_ == StreamType::kBlocking; }
  const std::string& name() const { return name_; }
  /// "alt#7".
  const std::string& display_name() const { return display_name_; }
  StreamQueue& queue() const { return *queue_; }

  /// Runs the work after everything submitted before, or records it.
  Status submit(Ref<Work> work);
  /// As submit, for work that a capture refuses (transfers from and to JavaScript's memory).
  Status submit_eager(Ref<Work> work, const char* what);
  /// Posts the token when everything submitted so far is complete.
  Status synchronize(Ref<CompletionSink> sink, int64_t token);
  /// Blocks; timeout_ms < 0 = for ever.
  Status synchronize_blocking(int64_t timeout_ms);
  /// Everything submitted to `other` so far comes before what is submitted here from now on.
  Status wait_stream(Stream& other);
  Status is_idle(bool& idle);
  Status capture_status(int& status, uint64_t& id);
  uint64_t pending() { return queue_ ? backend().pending(*this) : 0; }

  Status begin_capture(int mode, const CaptureTarget& target = {});
  Status end_capture(Ref<Graph>& graph);
  void abort_capture();
  /// Nodes that the next one will depend on.
  Status capture_frontier(std::vector<uint32_t>& nodes);
  Status set_capture_frontier(const std::vector<uint32_t>& nodes, bool replace);

  // Guarded by the runtime's mutex.
  Ref<CaptureSequence> capture;
  Frontier frontier;
  TracePoint trace_point;

 private:
  Backend& backend() const;
  Ref<Ticket> enqueue(Ref<Work> work);
  Status wait_captured(CaptureSequence& sequence, const Frontier& snapshot);
  friend class Event;

  const Ref<Runtime> runtime_;
  const StreamType type_;
  const uint64_t id_;
  const int priority_;
  const std::string name_;
  const std::string display_name_;
  std::unique_ptr<StreamQueue> queue_;
  std::atomic<int> handles_{0};
};

/// Blocks until all streams of the device are idle, also those of other threads.
Status synchronize_device(Runtime& runtime);
/// Posts the token when all that was submitted to them so far is complete.
Status synchronize_device(Runtime& runtime, Ref<CompletionSink> sink, int64_t token);

}  // namespace cuda_runtime::core
