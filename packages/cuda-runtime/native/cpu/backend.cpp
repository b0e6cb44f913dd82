#include "cpu/backend.h"

#include <algorithm>

#include "core/stream/event.h"
#include "cpu/device/device_report.h"
#include "cpu/device/image.h"
#include "cpu/device/level.h"

namespace cuda_runtime::cpu {
namespace {

using core::Ref;
using core::Runtime;
using core::Status;
using core::Stream;
using core::Ticket;
using core::Work;
using core::WorkKind;

constexpr uint32_t kDefaultMaxThreads = 32;
constexpr core::PriorityRange kPriorities = {0, -5};  // as on CUDA devices

CpuQueue& queue_of(Stream& stream) { return static_cast<CpuQueue&>(stream.queue()); }

Operation& operation_of(Ticket& ticket) { return static_cast<Operation&>(ticket); }

/// The call that submits such work, as rules of fault injection name it.
const char* call_of(WorkKind kind) {
  switch (kind) {
    case WorkKind::kKernel:
      return "stream.launch";
    case WorkKind::kCopy:
      return "stream.copy";
    case WorkKind::kFill:
      return "stream.fill";
    case WorkKind::kWrite:
      return "stream.write";
    case WorkKind::kRead:
      return "stream.read";
    case WorkKind::kNotify:
      return "stream.notify";
    default:
      return "stream.submit";
  }
}

template <typename T>
struct Choice {
  const char* name;
  T value;
};

template <typename T, size_t N>
Status choose(const char* option, const std::string& text, const Choice<T> (&choices)[N],
              T& value) {
  std::string known;
  for (const Choice<T>& choice : choices) {
    if (text == choice.name) {
      value = choice.value;
      return {};
    }
    known += (known.empty() ? "" : ", ") + std::string(choice.name);
  }
  return Status::argument(std::string("`cpu.") + option + "` is `" + text + "`, expected " + known);
}

Status read_options(const core::RuntimeOptions& options, SchedulerOptions& result) {
  constexpr Choice<Schedule> kSchedules[] = {{"parallel", Schedule::kParallel},
                                             {"serial", Schedule::kSerial},
                                             {"random", Schedule::kRandom},
                                             {"adversarial", Schedule::kAdversarial}};
  constexpr Choice<PdlPolicy> kPolicies[] = {{"earliest", PdlPolicy::kEarliest},
                                             {"latest", PdlPolicy::kLatest},
                                             {"random", PdlPolicy::kRandom}};
  Status status = choose("schedule", options.schedule, kSchedules, result.schedule);
  if (status.ok()) status = choose("pdl", options.pdl, kPolicies, result.pdl);
  if (status.ok()) status = choose_level(options.cpu_level, result.level);
  result.seed = options.seed;
  result.threads = options.threads != 0 ? options.threads : usable_processors();
  result.max_threads = options.max_threads != 0 ? options.max_threads : kDefaultMaxThreads;
  result.strict_pdl = options.strict_pdl;
  result.poison = options.poison;
  result.checks = options.checks;
  return status;
}

/// What the pool keeps: its own measure unless `pool` says more, and never less than it begins
/// with.
MemoryOptions memory_options(const core::RuntimeOptions& options) {
  MemoryOptions memory;
  memory.limit_bytes = options.limit_bytes;
  memory.poison = options.poison;
  memory.protect = options.checks.protect;
  memory.reuse_any = options.checks.reuse_any;
  if (options.pool.has_threshold) {
    memory.keep_bytes = memory.keep_largest = options.pool.release_threshold;
  }
  // Blocks are at most an eighth larger than what they are for, and whole huge pages.
  const uint64_t initial = options.pool.initial_bytes;
  const uint64_t block = initial == 0 ? 0 : initial + initial / 8 + (uint64_t{4} << 20);
  memory.keep_bytes = std::max(memory.keep_bytes, block);
  memory.keep_largest = std::max(memory.keep_largest, block);
  return memory;
}

}  // namespace

Status CpuBackend::open(const core::RuntimeOptions& options, Ref<Runtime>& runtime) {
  if (options.device != 0) {
    return Status::error("CRT_ARGUMENT", core::kInvalidDevice,
                         "`device` is " + std::to_string(options.device) +
                             ", expected 0 … 0 on the cpu backend",
                         "The CPU is one device");
  }
  SchedulerOptions scheduler;
  Status status = read_options(options, scheduler);
  if (!status.ok()) return status;
  auto backend = std::make_unique<CpuBackend>(scheduler, options);
  CpuBackend& cpu = *backend;
  runtime = core::make_ref<Runtime>(options, std::move(backend));
  cpu.runtime_ = runtime.get();
  cpu.scheduler_ = std::make_unique<Scheduler>(scheduler, runtime->trace(), cpu.memory_.pages());
  status = cpu.memory_.reserve(options.pool.initial_bytes);
  runtime->add_memory_facts(status, options.pool.initial_bytes, core::MemoryPlace::kDevice);
  return status.ok() ? cpu.scheduler_->start() : std::move(status);
}

CpuBackend::CpuBackend(const SchedulerOptions& scheduler, const core::RuntimeOptions& options)
    : memory_(memory_options(options)), scheduler_options_(scheduler) {}

void CpuBackend::describe(core::JsonWriter& json) {
  json.field("level", level_name(scheduler_options_.level));
  json.field("machineLevel", level_name(machine_level()));
  json.field("threads", static_cast<uint64_t>(scheduler_options_.threads));
  json.field("maxThreads", static_cast<uint64_t>(scheduler_options_.max_threads));
  json.field("schedule", runtime_->options().schedule);
  json.field("seed", scheduler_options_.seed);
  json.field("pdl", runtime_->options().pdl);
  json.field("raceCheck", runtime_->options().race_check);
  json.field("poison", runtime_->options().poison);
  json.field("clock", scheduler_->is_virtual() ? "virtual" : "steady");
  json.field("hangMs", scheduler_options_.checks.hang_ms);
  core::PoolOptions pool = runtime_->options().pool;
  if (!pool.has_threshold) pool.release_threshold = MemoryOptions::kDefaultKeep;
  pool.write(json);
  json.field("protect", scheduler_options_.checks.protect);
  json.field("reuse", scheduler_options_.checks.reuse_any ? "immediate" : "size");
}

void CpuBackend::describe_device(core::JsonWriter& json) {
  report_device(json, scheduler_options_, memory_.limit());
}

void CpuBackend::statistics(core::JsonWriter& json) {
  json.field("bytesInUse", memory_.in_use());
  json.field("bytesPeak", memory_.peak());
  json.field("bytesCached", memory_.cached());
  json.field("executorThreads", static_cast<uint64_t>(scheduler_->executor().threads()));
  json.field("parallelThreads", static_cast<uint64_t>(scheduler_->pool().started()));
  json.field("kernelsWithoutWait", scheduler_->kernels_without_wait());
  json.field("kernelWithoutWait", scheduler_->kernel_without_wait());
}

core::PriorityRange CpuBackend::priority_range() const { return kPriorities; }

std::unique_ptr<core::StreamQueue> CpuBackend::make_queue(Stream&) {
  return std::make_unique<CpuQueue>();
}

// The order of a stream, of the legacy stream against blocking ones, and of `extra`.
void CpuBackend::append(Stream& stream, const Ref<Operation>& operation, Ticket* extra) {
  CpuQueue& queue = queue_of(stream);
  operation->stream = Ref<Stream>(&stream);
  operation->stream_id = stream.id();
  core::InlineVector<Dependency, 4> before;
  if (queue.tail && (scheduler_->is_virtual() || !queue.tail->is_complete())) {
    const bool programmatic = operation->work && operation->work->is_programmatic() &&
                              queue.tail->is_kernel;
    before.push_back({queue.tail.get(), programmatic});
  }
  if (extra != nullptr) before.push_back({&operation_of(*extra), false});
  core::InlineVector<Ref<Operation>, 2> kept;
  if (stream.is_blocking() && legacy_tail_) before.push_back({legacy_tail_.get(), false});
  if (stream.is_legacy()) {
    runtime_->each_stream([&](Stream& other) {
      if (!other.is_blocking() || !queue_of(other).tail) return;
      kept.push_back(queue_of(other).tail);
      before.push_back({kept.back().get(), false});
    });
  }
  scheduler_->submit(*operation, before.begin(), before.size());
  if (stream.is_legacy()) legacy_tail_ = operation;
  queue.tail = operation;
}

Ref<Ticket> CpuBackend::enqueue(Stream& stream, Ref<Work> work) {
  scheduler_->faults().enter(call_of(work->kind));
  const bool is_notify = work->kind == WorkKind::kNotify;
  auto operation =
      core::make_ref<Operation>(is_notify ? OperationType::kMark : OperationType::kWork);
  if (is_notify) operation->notices.push_back({work->sink, work->token, ""});
  if (work->kind == WorkKind::kRead) {
    operation->notices.push_back({work->sink, work->token, "stream.read"});
  }
  operation->is_kernel = work->kind == WorkKind::kKernel;
  if (work->traced != 0 && !is_notify) runtime_->trace().begun(work->traced);
  const bool demanded = is_notify || work->kind == WorkKind::kRead;
  operation->work = std::move(work);
  append(stream, operation, nullptr);
  if (demanded) scheduler_->executor().demand();
  return operation;
}

Ref<Ticket> CpuBackend::mark(Stream& stream, const core::MarkRequest& request) {
  scheduler_->faults().enter("stream.mark");
  auto operation = core::make_ref<Operation>(OperationType::kMark);
  operation->timing = request.timing;
  if (request.sink) operation->notices.push_back({request.sink, request.token, request.api});
  append(stream, operation, nullptr);
  if (request.sink) scheduler_->executor().demand();
  return operation;
}

void CpuBackend::wait(Stream& stream, Ticket& ticket) {
  scheduler_->faults().enter("stream.wait");
  if (ticket.is_complete() && !scheduler_->is_virtual()) return;
  append(stream, core::make_ref<Operation>(OperationType::kMark), &ticket);
}

Ref<Ticket> CpuBackend::tail(Stream& stream) {
  scheduler_->faults().require();
  CpuQueue& queue = queue_of(stream);
  if (!queue.tail || queue.tail->is_complete()) return nullptr;
  return queue.tail;
}

uint64_t CpuBackend::pending(Stream& stream) { return queue_of(stream).pending.load(); }

void CpuBackend::visit_submitted(
    const std::function<void(const core::SubmittedWork&)>& visitor) {
  scheduler_->visit_submitted(visitor);
}

double CpuBackend::elapsed_ms(Ticket& start, Ticket& end) {
  return static_cast<double>(end.completed_ns() - start.completed_ns()) / 1e6;
}

void CpuBackend::notify(Ticket& ticket, const core::MarkRequest& request) {
  scheduler_->faults().require();
  scheduler_->notify(operation_of(ticket), {request.sink, request.token, request.api});
}

bool CpuBackend::wait_blocking(Ticket& ticket, int64_t timeout_ms) {
  return scheduler_->wait_blocking(operation_of(ticket), timeout_ms);
}

Status CpuBackend::take_fault() { return scheduler_->take_fault(); }

Status CpuBackend::loss() const { return scheduler_->faults().loss().status(); }

bool CpuBackend::poll(Ticket& ticket) {
  scheduler_->faults().require();
  return ticket.is_complete();
}

bool CpuBackend::orders_host() const { return scheduler_->is_virtual(); }

void CpuBackend::host_saw(const Ticket& ticket) { scheduler_->host_saw(ticket); }

void CpuBackend::host_saw_idle(Stream& stream) {
  const Ref<Operation>& tail = queue_of(stream).tail;
  if (tail) scheduler_->host_saw(*tail);
}

Status CpuBackend::inject(const core::JsonValue& rule) { return scheduler_->faults().add(rule); }

Status CpuBackend::allocate(uint64_t bytes, const std::string& label, core::MemoryPlace place,
                            uint8_t*& data) {
  const bool is_host = place == core::MemoryPlace::kHost;
  Status status = scheduler_->faults().check(is_host ? "device.allocHost" : "device.alloc");
  if (!status.ok()) return status;
  return memory_.allocate(bytes, label, place, data);
}

core::MemoryState CpuBackend::memory_state(core::MemoryPlace) {
  const uint64_t used = memory_.in_use();
  const uint64_t left = memory_.limit() - used;
  return {left, used + memory_.cached(), left};
}

void CpuBackend::free_memory(uint8_t* data, uint64_t bytes, const std::string& label,
                             core::MemoryPlace place) {
  memory_.release(data, bytes, label, place, &runtime_->races());
}

Status CpuBackend::stage(uint64_t bytes, std::unique_ptr<core::StagedBytes>& staged) {
  if (!loss().ok()) return loss();
  try {
    staged = std::make_unique<core::HeapBytes>(bytes);
  } catch (const std::bad_alloc&) {
    return Status::error("CRT_OOM", core::kMemoryAllocation,
                         "no memory to stage " + std::to_string(bytes) + " bytes",
                         "Write in smaller pieces, or copy from a host buffer");
  }
  return {};
}

Status CpuBackend::load_image(const core::JsonValue& manifest, const std::string& directory,
                              const std::vector<core::KernelLayout>& layouts,
                              std::unique_ptr<core::ModuleImage>& image) {
  Status status = scheduler_->faults().check("runtime.loadModule");
  if (!status.ok()) return status;
  return CpuImage::load(directory + "/" + manifest["cpu"].text(), layouts, image);
}

// A kernel runs as one function.
Status CpuBackend::occupancy(core::Kernel&, uint32_t, uint64_t, int& blocks) {
  blocks = 1;
  return {};
}

Status CpuBackend::start_callbacks() { return scheduler_->start_callbacks(); }

// Priorities of nodes have no meaning here: every ready operation has a thread.
Status CpuBackend::plan(const core::Graph& graph, bool, std::unique_ptr<core::ExecPlan>& plan) {
  Status status = scheduler_->faults().check("graph.instantiate");
  if (!status.ok()) return status;
  plan = std::make_unique<GraphPlan>(graph, nullptr, 0);
  return {};
}

// A launch reads the executable's graph: the plan has nothing to change.
void CpuBackend::set_node(core::Exec&, const core::GraphNode&, uint32_t) {
  scheduler_->faults().enter("exec.update");
}

Ref<Ticket> CpuBackend::launch(Stream& stream, core::Exec& exec) {
  scheduler_->faults().enter("exec.launch");
  auto& plan = static_cast<GraphPlan&>(exec.plan());
  auto operation = core::make_ref<Operation>(OperationType::kGraph);
  operation->launch = std::make_unique<GraphLaunch>();
  GraphLaunch& launch = *operation->launch;
  launch.exec = Ref<core::Exec>(&exec);
  launch.graph = exec.graph();
  launch.plan = &plan;
  launch.number = exec.launches() + 1;
  launch.traced = exec.traced;
  launch.traces_nodes = runtime_->trace().mode() == core::TraceMode::kGraph;
  // Waits take what the events hold now; records replace it (CX27).
  for (const uint32_t node : plan.event_waits) {
    const Ref<Ticket>& ticket = launch.graph->nodes()[node].work->event->ticket;
    const bool counts = ticket && (scheduler_->is_virtual() || !ticket->is_complete());
    if (counts) launch.waits.push_back({node, ticket, {}});
  }
  for (const uint32_t node : plan.event_records) {
    auto record = core::make_ref<Operation>(OperationType::kMark);
    record->timing = true;
    launch.records.emplace_back(node, std::move(record));
  }
  if (launch.traced != 0) runtime_->trace().begun(launch.traced);
  // The launch may end in the meantime.
  const Ref<core::Graph> graph = launch.graph;
  const auto records = launch.records;
  append(stream, operation, exec.last_launch.get());
  for (const auto& [node, record] : records) {
    core::Event& event = *graph->nodes()[node].work->event;
    event.ticket = record;
    event.sequence = nullptr;
  }
  return operation;
}

}  // namespace cuda_runtime::cpu
