// What ran when: spans of operations, which operation waited for which, memory in use. Off costs
// one relaxed load per submission.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/launch_config.h"
#include "core/work.h"

namespace cuda_runtime::core {

class Graph;
struct GraphNode;

/// `kOperations`: a launch of a graph is one span. `kGraph`: each node is one.
enum class TraceMode : uint8_t { kOff, kOperations, kGraph };

struct Span {
  std::string name;
  const char* kind = "";
  std::string stream;
  uint64_t thread = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint64_t operation = 0;  // Trace::submit: of the operation, or of the launch of the graph
  uint64_t graph = 0;      // Graph::id; 0 outside graphs
  uint64_t capture_id = 0;
  uint64_t replay = 0;  // number of the launch of the executable
  uint32_t node = 0;
  bool is_node = false;
  bool programmatic = false;
  Dim3 grid{0, 0, 0};
  Dim3 block{0, 0, 0};
  uint64_t bytes = 0;
};

/// Without times.
Span span_of(const Work& work, const std::string& stream);
Span span_of_node(const Graph& graph, uint32_t node, uint64_t operation, uint64_t replay);
Span span_of_launch(const Graph& graph, const std::string& stream, uint64_t operation,
                    uint64_t replay);

/// What of a stream's past an event or a waiting stream is ordered behind; guarded by the runtime's
/// mutex.
struct TracePoint {
  uint64_t last = 0;            // the stream's last traced operation
  std::vector<uint64_t> waits;  // what its next operation waits for

  /// What somebody who waits for this point waits for.
  std::vector<uint64_t> sources() const;
  void wait(const std::vector<uint64_t>& sources);
};

/// What was lost and why, and how far the clocks of device and host drifted apart.
struct TraceLosses {
  uint64_t running = 0;   // not complete when the trace was stopped
  uint64_t launches = 0;  // of graphs, since all traced copies were busy
  int64_t drift_ns = 0;
  bool has_drift = true;  // false: the device was busy at the end
};

class Trace {
 public:
  bool is_on() const { return mode() != TraceMode::kOff; }
  TraceMode mode() const { return mode_.load(std::memory_order_relaxed); }
  /// Begins an empty recording, or ends it.
  void set(TraceMode mode);

  /// A number for an operation that follows the point, which moves there. Never 0.
  uint64_t submit(TracePoint& point);
  /// For backends that add spans themselves: a traced operation is submitted, or is over.
  void begun(uint64_t operation);
  void ended(uint64_t operation);
  /// Spans of operations submitted before the trace was started are not wanted.
  void add(Span span);
  /// The edges of a graph that cross streams, once per graph.
  void note_graph(const Graph& graph);
  void sample_memory(bool is_host, uint64_t bytes_in_use);
  /// A span was lost, since there was no memory for it; `take` will say so.
  void lose() { lost_.fetch_add(1, std::memory_order_relaxed); }
  /// JSON of all that was recorded; clears it. An error when spans were lost.
  Status take(TraceLosses losses, std::string& json);

 private:
  struct Flow {
    uint64_t from;
    uint64_t to;
  };
  struct Sample {
    int64_t ns;
    bool is_host;
    uint64_t bytes;
  };
  struct Recorded {
    std::vector<Span> spans;
    std::vector<Flow> flows;
    std::map<uint64_t, std::vector<Flow>> graphs;
    std::vector<Sample> samples;
  };
  static void write(const Recorded& recorded, const TraceLosses& losses, std::string& json);

  std::atomic<TraceMode> mode_{TraceMode::kOff};
  std::atomic<uint64_t> lost_{0};
  Mutex mutex_;
  uint64_t operations_ = 0;
  uint64_t first_ = 1;
  uint64_t running_ = 0;
  Recorded recorded_;
};

}  // namespace cuda_runtime::core
