#include "core/check/audit/audit.h"

#include <unordered_map>
#include <vector>

#include "core/base/exported_records.h"
#include "core/base/hold_note.h"
#include "core/check/audit/held.h"
#include "core/graph/traced_copy.h"
#include "core/memory/buffer.h"
#include "core/stream/stream.h"

namespace cuda_runtime::core {
namespace {

struct Entry {
  uint64_t id = 0;
  const char* kind = "";
  std::string label;
  uint64_t bytes = 0;
  bool has_bytes = false;
  uint64_t references = 0;
};

/// A look at one runtime, as plain data.
class Look {
 public:
  explicit Look(Runtime& runtime) : runtime_(runtime) {}

  /// In an order in which no two locks are ever held the other way round: the runtime's mutex, then
  /// one at a time those of lists, of graphs, of the backend, of the tables.
  void take() {
    LockGuard lock(runtime_.mutex());
    add(runtime_);
    for (size_t kind = 1; kind < kKinds; ++kind) {
      for (LiveRecords* records : {&runtime_.live(), &LiveRecords::of_process()}) {
        records->visit(static_cast<Kind>(kind), [&](const Record& record) { add(record); });
      }
    }
    for (const CaptureSequence* capture : runtime_.captures()) add(*capture);
    runtime_.event_trace().each_copy([&](const TracedCopy& copy) { hold(copy.exec, named("trace")); });
    runtime_.backend().visit_submitted(
        [&](const SubmittedWork& submitted) { visit_held(submitted, noter()); });
    add_handles();
    ExportedRecords::instance().visit([&](const Record& record, uint64_t owner) {
      Holder holder = named("export");
      holder.environment = owner;
      note(record.record_id(), std::move(holder));
    });
    HoldNote::visit([&](const char* by, uint64_t held) { note(held, named(by)); });
  }

  std::string json(uint64_t environment) {
    JsonWriter json;
    json.begin_array();
    for (const Entry& entry : entries_) write(json, entry, environment);
    json.end_array();
    return json.take();
  }

 private:
  static Holder named(const char* by) {
    Holder holder;
    holder.by = by;
    return holder;
  }

  void add(const Record& record) {
    Entry entry{record.record_id(), kind_name(record.kind()), audit_label(record)};
    if (record.kind() == Kind::kBuffer || record.kind() == Kind::kHostBuffer) {
      entry.bytes = static_cast<const Buffer&>(record).bytes();
      entry.has_bytes = true;
    }
    if (record.kind() == Kind::kRuntime) entry.label = runtime_.backend().name();
    entry.references = record.references();
    entries_.push_back(std::move(entry));
    visit_held(record, noter());
  }

  void add(const CaptureSequence& capture) {
    Entry entry{capture.record_id, "capture", std::to_string(capture.id)};
    entry.label += " of " + capture.origin->display_name();
    entry.references = capture.references();
    entries_.push_back(std::move(entry));
    Holder holder = named("capture");
    holder.record = capture.record_id;
    hold(capture.graph, holder);
    for (const Ref<Stream>& stream : capture.participants) hold(stream, holder);
  }

  void add_handles() {
    HandleTable::instance().visit([&](const HandleTable::Named& named_record) {
      Holder holder = named("handle");
      holder.environment = named_record.owner;
      holder.handle = named_record.handle;
      holder.is_imported = named_record.is_imported;
      note(named_record.record.record_id(), std::move(holder));
    });
  }

  template <typename T>
  void hold(const Ref<T>& held, const Holder& holder) {
    if (held) note(held->record_id(), holder);
  }
  HeldVisitor noter() {
    return [this](uint64_t held, Holder holder) { note(held, std::move(holder)); };
  }
  void note(uint64_t held, Holder holder) { add_holder(holders_[held], std::move(holder)); }

  void write(JsonWriter& json, const Entry& entry, uint64_t environment) {
    json.begin_object();
    json.field("id", entry.id);
    json.field("kind", entry.kind);
    json.field("label", entry.label);
    if (entry.has_bytes) json.field("bytes", entry.bytes);
    json.field("references", entry.references);
    json.key("holders");
    json.begin_array();
    for (const Holder& holder : holders_[entry.id]) holder.write(json, environment);
    json.end_array();
    json.end_object();
  }

  Runtime& runtime_;
  std::vector<Entry> entries_;
  // By id of what is held, also of records of other runtimes, which nobody asks for.
  std::unordered_map<uint64_t, std::vector<Holder>> holders_;
};

}  // namespace

std::string audit(Runtime& runtime, uint64_t environment) {
  Look look(runtime);
  look.take();
  return look.json(environment);
}

}  // namespace cuda_runtime::core
