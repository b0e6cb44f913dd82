#include "core/runtime.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "core/backends.h"
#include "core/memory/buffer.h"
#include "core/stream/stream.h"

namespace cuda_runtime::core {
namespace {

/// Open runtimes by backend and options. Raw pointers: a runtime leaves when it ends.
struct Registry {
  Mutex opening;  // one at a time: starting a driver takes long, and the list must stay free
  Mutex mutex;
  std::map<std::string, Runtime*> open;
};

Registry& registry() {
  static Registry* const instance = new Registry();
  return *instance;
}

Ref<Runtime> find_open(const std::string& key) {
  LockGuard lock(registry().mutex);
  const auto found = registry().open.find(key);
  if (found == registry().open.end() || !found->second->try_retain()) return nullptr;
  return adopt_ref(found->second);
}

}  // namespace

PoolOptions PoolOptions::parse(const JsonValue& json) {
  PoolOptions pool;
  const double threshold = json["releaseThreshold"].number_or(-1);  // -1: all
  pool.is_given = json["given"].bool_or(false);
  pool.has_threshold = json["hasThreshold"].bool_or(false);
  if (threshold >= 0) pool.release_threshold = static_cast<uint64_t>(threshold);
  pool.initial_bytes = static_cast<uint64_t>(json["initialBytes"].number_or(0));
  return pool;
}

void PoolOptions::write(JsonWriter& json) const {
  json.key("pool");
  json.begin_object();
  if (release_threshold == kKeepAll) {
    json.field("releaseThreshold", "max");
  } else {
    json.field("releaseThreshold", release_threshold);
  }
  json.field("initialBytes", initial_bytes);
  json.end_object();
}

Status RuntimeOptions::parse(const std::string& text, RuntimeOptions& options) {
  JsonValue json;
  std::string error;
  if (!parse_json(text.empty() ? "{}" : text, json, error)) {
    return Status::argument("`options` is " + error);
  }
  const JsonValue& cpu = json["cpu"];
  options.device = static_cast<int>(json["device"].number_or(0));
  options.guards = json["guards"].bool_or(true);
  options.strict_events = json["strictEvents"].bool_or(false);
  options.launch_by_graph = json["launchByGraph"].bool_or(true);
  options.pool = PoolOptions::parse(json["pool"]);
  options.cpu_level = cpu["level"].text();
  options.threads = static_cast<uint32_t>(cpu["threads"].number_or(0));
  options.max_threads = static_cast<uint32_t>(cpu["maxThreads"].number_or(0));
  options.schedule = cpu["schedule"].text("parallel");
  options.seed = static_cast<uint64_t>(cpu["seed"].number_or(0));
  options.race_check = cpu["raceCheck"].bool_or(false);
  options.poison = cpu["poison"].bool_or(false);
  options.pdl = cpu["pdl"].text("earliest");
  options.strict_pdl = cpu["strictPdl"].bool_or(false);
  options.limit_bytes = static_cast<uint64_t>(cpu["limitBytes"].number_or(0));
  return CheckOptions::parse(cpu, options.checks);
}

Runtime::Runtime(RuntimeOptions options, std::unique_ptr<Backend> backend)
    : Record(kKind),
      options_(std::move(options)),
      races_(options_.race_check),
      backend_(std::move(backend)) {}

Runtime::~Runtime() {
  LockGuard lock(registry().mutex);
  std::erase_if(registry().open, [&](const auto& entry) { return entry.second == this; });
}

Status Runtime::open(const std::string& backend, const std::string& text, Ref<Runtime>& runtime) {
  // The environment may choose the level where the options do not.
  const char* level = std::getenv("CUDA_RUNTIME_CPU_LEVEL");
  const std::string key = backend + text + (level != nullptr ? level : "");
  LockGuard opening(registry().opening);
  Ref<Runtime> opened = find_open(key);
  if (!opened) {
    RuntimeOptions options;
    Status status = RuntimeOptions::parse(text, options);
    if (status.ok()) status = open_backend(backend, options, opened);
    if (!status.ok()) return status;
    LockGuard lock(registry().mutex);
    registry().open[key] = opened.get();
  }
  runtime = std::move(opened);
  return {};
}

// A trace that nobody stopped refers to streams and graphs, which refer to this.
void Runtime::on_handle_released() {
  if (handles_.fetch_sub(1) > 1) return;
  LockGuard lock(mutex_);
  trace_.set(TraceMode::kOff);
  event_trace_.clear();
}

Status Runtime::start_trace(TraceMode mode, bool by_events) {
  if (by_events || !backend_->traces_itself()) {
    Status status = EventTrace::start(*this);
    if (!status.ok()) return status;
  } else {
    LockGuard lock(mutex_);
    event_trace_.clear();
  }
  trace_.set(mode);
  for (const bool is_host : {false, true}) note_memory(is_host, 0);
  return {};
}

Status Runtime::stop_trace(std::string& json) {
  bool by_events = false;
  {
    LockGuard lock(mutex_);
    by_events = event_trace_.is_on();
  }
  TraceLosses losses;
  if (by_events) {
    Status status = EventTrace::stop(*this, losses);
    if (!status.ok()) return status;
  }
  Status status = trace_.take(losses, json);
  trace_.set(TraceMode::kOff);
  return status;
}

void Runtime::note_memory(bool is_host, int64_t change) {
  const int64_t now = bytes_in_use_[is_host ? 1 : 0].fetch_add(change) + change;
  if (trace_.is_on()) trace_.sample_memory(is_host, static_cast<uint64_t>(now));
}

void Runtime::add_stream(Stream& stream) {
  LockGuard lock(streams_mutex_);
  streams_.push_back(&stream);
}

void Runtime::remove_stream(Stream& stream) {
  LockGuard lock(streams_mutex_);
  std::erase(streams_, &stream);
  if (legacy_ == &stream) legacy_ = nullptr;
}

Ref<Stream> Runtime::create_stream(int priority, bool blocking, std::string name) {
  const PriorityRange range = backend_->priority_range();
  const int clamped = std::clamp(priority, range.greatest, range.least);
  return make_ref<Stream>(Ref<Runtime>(this),
                          blocking ? StreamType::kBlocking : StreamType::kNonBlocking, clamped,
                          std::move(name));
}

Ref<Stream> Runtime::legacy_stream() {
  LockGuard lock(mutex_);
  {
    LockGuard streams_lock(streams_mutex_);
    if (legacy_ != nullptr && legacy_->try_retain()) return adopt_ref(legacy_);
  }
  auto stream = make_ref<Stream>(Ref<Runtime>(this), StreamType::kLegacy, 0, "legacy");
  LockGuard streams_lock(streams_mutex_);
  legacy_ = stream.get();
  return stream;
}

Status Runtime::allocate(uint64_t bytes, std::string label, bool is_host, Ref<Buffer>& buffer) {
  uint8_t* data = nullptr;
  const MemoryPlace place = is_host ? MemoryPlace::kHost : MemoryPlace::kDevice;
  Status status = backend_->allocate(bytes, label, place, data);
  if (!status.ok()) {
    add_memory_facts(status, bytes, place);
    return status;
  }
  const Kind kind = is_host ? Kind::kHostBuffer : Kind::kBuffer;
  try {
    buffer = make_ref<Buffer>(kind, Ref<Runtime>(this), data, bytes, label);
  } catch (...) {
    backend_->free_memory(data, bytes, label, place);
    throw;
  }
  return {};
}

void Runtime::add_memory_facts(Status& status, uint64_t bytes, MemoryPlace place) {
  if (status.ok() || status.fault().code != "CRT_OOM") return;
  constexpr size_t kMost = 5;
  auto facts = std::make_shared<MemoryFacts>();
  const MemoryState state = backend_->memory_state(place);
  facts->requested = bytes;
  facts->free = state.free;
  facts->reserved = state.reserved;
  const Kind kind = place == MemoryPlace::kHost ? Kind::kHostBuffer : Kind::kBuffer;
  live_.visit(kind, [&](const Record& record) {
    const auto& buffer = static_cast<const Buffer&>(record);
    if (buffer.bytes() == 0) return;
    const auto place_of =
        std::find_if(facts->largest.begin(), facts->largest.end(),
                     [&](const auto& known) { return known.second < buffer.bytes(); });
    if (place_of == facts->largest.end() && facts->largest.size() == kMost) return;
    facts->largest.emplace(place_of, buffer.label(), buffer.bytes());
    if (facts->largest.size() > kMost) facts->largest.pop_back();
  });
  status.fault().memory = std::move(facts);
}

void Runtime::note_module(const std::string& package) {
  LockGuard lock(mutex_);
  if (std::find(modules_.begin(), modules_.end(), package) == modules_.end()) {
    modules_.push_back(package);
  }
}

std::string Runtime::describe() {
  JsonWriter json;
  json.begin_object();
  json.field("backend", backend_->name());
  json.field("guards", options_.guards);
  backend_->describe(json);
  json.key("modules");
  json.begin_array();
  {
    LockGuard lock(mutex_);
    for (const std::string& package : modules_) json.value(package);
  }
  json.end_array();
  json.end_object();
  return json.take();
}

std::string Runtime::device_info() {
  JsonWriter json;
  json.begin_object();
  backend_->describe_device(json);
  json.key("priorityRange");
  json.begin_object();
  const PriorityRange range = backend_->priority_range();
  json.field("least", static_cast<int64_t>(range.least));
  json.field("greatest", static_cast<int64_t>(range.greatest));
  json.end_object();
  json.field("availableBytes", backend_->memory_state(MemoryPlace::kDevice).available);
  json.end_object();
  return json.take();
}

std::string Runtime::statistics() {
  constexpr Kind kKinds[] = {Kind::kBuffer, Kind::kStream, Kind::kEvent,     Kind::kExec,
                             Kind::kGraph,  Kind::kModule, Kind::kHostBuffer};
  JsonWriter json;
  json.begin_object();
  json.key("live");
  json.begin_object();
  for (const Kind kind : kKinds) json.field(kind_name(kind), live_.count(kind));
  json.end_object();
  json.field("operations", launches.all());
  json.field("replays", launches.graphs());
  json.key("launches");
  launches.write(json);
  json.key("guardRefusals");
  guard_refusals.write(json);
  json.key("updateFailures");
  update_failures.write(json);
  backend_->statistics(json);
  json.end_object();
  return json.take();
}

}  // namespace cuda_runtime::core
