// A graph made ready to run: an immutable plan of the backend. Launches of one executable run one
// after another, also from several streams (CG05).
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/backend.h"
#include "core/base/record.h"
#include "core/graph/graph.h"

namespace cuda_runtime::core {

struct TracedCopy;

class Exec : public Record {
 public:
  static constexpr Kind kKind = Kind::kExec;

  Exec(Ref<Graph> graph, std::unique_ptr<ExecPlan> plan);
  ~Exec() override;

  /// Refused or performed during captures as the guards say (CU28); reports races of the graph.
  static Status instantiate(const Ref<Graph>& graph, Ref<Exec>& exec);
  Status launch(Stream& stream);

  const Graph& graph() const { return *graph_; }
  ExecPlan& plan() const { return *plan_; }
  uint64_t launches() const { return launches_.load(std::memory_order_relaxed); }
  /// The latest launch; needs the runtime's mutex.
  Ref<Ticket> last_launch;
  /// The launch being submitted: its number in the trace, 0 = not traced. Needs the mutex, too.
  uint64_t traced = 0;
  std::vector<Ref<TracedCopy>> traced_copies;

 private:
  Status submit(Stream& stream);

  const Ref<Graph> graph_;
  const std::unique_ptr<ExecPlan> plan_;
  std::atomic<uint64_t> launches_{0};
};

}  // namespace cuda_runtime::core
