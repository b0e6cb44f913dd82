// exportHandle, importHandle: the same record for another environment.
#include "core/base/exported_records.h"
#include "core/graph/exec.h"
#include "core/stream/event.h"
#include "core/stream/stream.h"
#include "napi/arguments.h"
#include "napi/functions.h"

namespace cuda_runtime::napi {
namespace {

using core::Kind;
using core::Record;
using core::Ref;
using core::Runtime;
using core::Status;

/// The runtime of a record that can be exported; null for any other.
Runtime* runtime_of(const Record& record) {
  switch (record.kind()) {
    case Kind::kBuffer:
      return &static_cast<const core::Buffer&>(record).runtime();
    case Kind::kStream:
      return &static_cast<const core::Stream&>(record).runtime();
    case Kind::kEvent:
      return &static_cast<const core::Event&>(record).runtime();
    case Kind::kExec:
      return &static_cast<const core::Exec&>(record).runtime();
    default:
      return nullptr;
  }
}

Status named(core::Handle handle, Ref<Record>& record) {
  return core::HandleTable::instance().find(handle, static_cast<Kind>(handle >> 28), record);
}

Napi::Value export_handle(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Ref<Record> record;
  in.finish(named(in.handle(0), record));
  if (runtime_of(*record) == nullptr) {
    in.finish(Status::argument(std::string("a ") + core::kind_name(record->kind()) +
                                   " cannot be passed to another thread",
                               "Pass a device buffer, an event, a stream or a graph executable"));
  }
  return in.text(in.environment().export_record(std::move(record)));
}

/// Which of the given runtimes the record belongs to.
uint32_t index_of_runtime(const Arguments& in, const Napi::Value& given, const Record& record) {
  const auto runtimes = given.As<Napi::Array>();
  for (uint32_t i = 0; i < runtimes.Length(); ++i) {
    const auto handle = runtimes.Get(i).As<Napi::Number>().Uint32Value();
    if (in.named<Runtime>(handle).get() == runtime_of(record)) return i;
  }
  Runtime& runtime = *runtime_of(record);
  in.finish(Status::error("CRT_BACKEND_MISMATCH", core::kInvalidResourceHandle,
                          std::string("the ") + core::kind_name(record.kind()) +
                              " belongs to a " + runtime.backend().name() +
                              " runtime that this thread has not opened",
                          "Open the runtime here first, with the options of the exporting thread; "
                          "an isolated one stays in its thread"));
  return 0;
}

Napi::Value import_handle(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const std::string token = in.string(0);
  const int64_t expected = in.integer(1, "kind");
  Ref<Record> record;
  in.finish(core::ExportedRecords::instance().find(token, record));
  const Kind kind = record->kind();
  if (expected != 0 && static_cast<Kind>(expected) != kind) {
    in.finish(Status::argument(std::string("the token is of kind ") + core::kind_name(kind) +
                                   ", expected " +
                                   core::kind_name(static_cast<Kind>(expected)),
                               "Import it as what was exported; the token is still good"));
  }
  const uint32_t runtime = index_of_runtime(in, info[2], *record);
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("kind", static_cast<uint32_t>(kind));
  result.Set("runtime", runtime);
  result.Set("name", "");
  result.Set("bytes", 0);
  result.Set("isLent", false);
  result.Set("timing", false);
  if (kind == Kind::kBuffer) {
    auto& buffer = static_cast<core::Buffer&>(*record);
    result.Set("name", buffer.label());
    result.Set("bytes", static_cast<double>(buffer.bytes()));
    result.Set("isLent", buffer.as_graph_buffer() != nullptr);
  } else if (kind == Kind::kStream) {
    result.Set("name", static_cast<const core::Stream&>(*record).name());
  } else if (kind == Kind::kEvent) {
    result.Set("timing", static_cast<const core::Event&>(*record).has_timing());
  }
  in.finish(core::ExportedRecords::instance().remove(token));
  result.Set("handle", in.number(in.environment().add(std::move(record), true)));
  return result;
}

}  // namespace

void export_handles(Napi::Object& exports) {
  add_method<export_handle>(exports, "exportHandle", "exportHandle");
  add_method<import_handle>(exports, "importHandle", "importHandle");
}

}  // namespace cuda_runtime::napi
