// A backend opened with certain options. Process-wide: environments that open the same options
// share it, so that handles can be exchanged between workers.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/backend.h"
#include "core/base/live_records.h"
#include "core/base/mutex.h"
#include "core/base/record.h"
#include "core/base/status.h"
#include "core/check/check_options.h"
#include "core/check/event_trace.h"
#include "core/check/launch_counts.h"
#include "core/check/named_counts.h"
#include "core/check/race_check.h"
#include "core/check/trace.h"

namespace cuda_runtime::core {

class Stream;
class CaptureSequence;

/// Freed memory that is kept, and memory taken at open.
struct PoolOptions {
  static constexpr uint64_t kKeepAll = UINT64_MAX;
  bool is_given = false;
  bool has_threshold = false;
  uint64_t release_threshold = kKeepAll;  // bytes kept; with `has_threshold` false the backend's own
  uint64_t initial_bytes = 0;

  static PoolOptions parse(const JsonValue& json);
  void write(JsonWriter& json) const;
};

/// Options of `openRuntime` (`NativeOpenOptions`); 0 and "" mean the default.
struct RuntimeOptions {
  int device = 0;  // ordinal among those that the backend sees
  bool guards = true;
  bool strict_events = false;
  bool launch_by_graph = true;  // CUDA: kernels that a stream starts often
  PoolOptions pool;
  std::string cpu_level;
  uint32_t threads = 0;
  uint32_t max_threads = 0;
  std::string schedule = "parallel";
  uint64_t seed = 0;
  bool race_check = false;
  bool poison = false;
  std::string pdl = "earliest";
  bool strict_pdl = false;
  uint64_t limit_bytes = 0;
  CheckOptions checks;

  static Status parse(const std::string& json, RuntimeOptions& options);
};

class Runtime : public Record {
 public:
  static constexpr Kind kKind = Kind::kRuntime;

  Runtime(RuntimeOptions options, std::unique_ptr<Backend> backend);
  ~Runtime() override;
  void on_handle_added() override { handles_.fetch_add(1); }
  void on_handle_released() override;

  /// The runtime opened with this backend and these options, a new one if there is none.
  static Status open(const std::string& backend, const std::string& options, Ref<Runtime>& runtime);

  const RuntimeOptions& options() const { return options_; }
  Backend& backend() const { return *backend_; }
  /// Buffers, streams, … of this runtime; each adds and removes itself.
  LiveRecords& live() { return live_; }
  RaceCheck& races() { return races_; }
  Trace& trace() { return trace_; }
  /// Needs the mutex.
  EventTrace& event_trace() { return event_trace_; }
  /// Begins a trace, of the backend or by pairs of events. Not under the mutex: the latter waits.
  Status start_trace(TraceMode mode, bool by_events);
  /// Ends it; JSON of what was recorded.
  Status stop_trace(std::string& json);
  /// Whether somebody must know what the host has seen the end of.
  bool orders_host() const { return races_.is_enabled() || backend_->orders_host(); }
  /// What is submitted from now on comes after the ticket.
  void host_waited(const Ticket& ticket) {
    races_.host_waited(ticket);
    backend_->host_saw(ticket);
  }
  /// Guards the capture state, events and stream lists; held during a call, never while waiting.
  Mutex& mutex() { return mutex_; }

  Ref<Stream> create_stream(int priority, bool blocking, std::string name);
  Ref<Stream> legacy_stream();
  Status allocate(uint64_t bytes, std::string label, bool is_host, Ref<Buffer>& buffer);

  /// Adds to a failed allocation what is known of the memory; other failures stay as they are.
  void add_memory_facts(Status& status, uint64_t bytes, MemoryPlace place);

  std::string describe();
  std::string device_info();
  std::string statistics();

  /// Open capture sequences; needs the mutex.
  std::vector<CaptureSequence*>& captures() { return captures_; }

  // Streams register themselves. The list has its own lock, since a stream may end on any thread.
  void add_stream(Stream& stream);
  void remove_stream(Stream& stream);
  /// Visits streams whose removal has not begun or is held up by this visit.
  template <typename Visitor>
  void each_stream(Visitor visitor) {
    LockGuard lock(streams_mutex_);
    for (Stream* stream : streams_) visitor(*stream);
  }

  /// Bytes of live buffers on the device or in host memory, for the trace.
  void note_memory(bool is_host, int64_t change);

  LaunchCounts launches;
  NamedCounts guard_refusals;   // by row of the capture table
  NamedCounts update_failures;  // by result
  /// Packages loaded, for the report.
  void note_module(const std::string& package);

 private:
  const RuntimeOptions options_;
  LiveRecords live_;
  Trace trace_;
  EventTrace event_trace_;
  std::atomic<int64_t> bytes_in_use_[2]{};  // device, host
  std::atomic<int64_t> handles_{0};
  RaceCheck races_;
  Mutex mutex_;
  Mutex streams_mutex_;
  std::vector<Stream*> streams_;
  std::vector<CaptureSequence*> captures_;
  std::vector<std::string> modules_;
  Stream* legacy_ = nullptr;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cuda_runtime::core
