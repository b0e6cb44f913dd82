// createEvent … eventElapsedMs.
#include "core/stream/event.h"

#include "core/runtime.h"
#include "core/stream/stream.h"
#include "napi/arguments.h"
#include "napi/functions.h"

namespace cuda_runtime::napi {
namespace {

using core::Event;
using core::Stream;

Napi::Value create_event(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<core::Runtime> runtime = in.record<core::Runtime>(0);
  in.check_device(1);
  return in.handle_of(core::make_ref<Event>(runtime, in.boolean(2)));
}

Napi::Value event_record(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Event> event = in.record<Event>(0);
  const core::Ref<Stream> stream = in.record<Stream>(1);
  in.finish(event->record(*stream, in.boolean(2)));
  return in.undefined();
}

Napi::Value event_wait(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Event> event = in.record<Event>(0);
  const core::Ref<Stream> stream = in.record<Stream>(1);
  in.finish(event->wait(*stream, in.boolean(2)));
  return in.undefined();
}

Napi::Value event_state(const Napi::CallbackInfo& info) {
  Arguments in(info);
  return in.number(static_cast<int>(in.record<Event>(0)->state()));
}

Napi::Value event_query(const Napi::CallbackInfo& info) {
  Arguments in(info);
  bool complete = false;
  in.finish(in.record<Event>(0)->query(complete));
  return Napi::Boolean::New(info.Env(), complete);
}

Napi::Value event_done(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Event> event = in.record<Event>(0);
  in.finish(event->done(in.sink(), in.integer(1, "token")));
  return in.undefined();
}

Napi::Value event_wait_sync(const Napi::CallbackInfo& info) {
  Arguments in(info);
  in.finish(in.record<Event>(0)->wait_blocking());
  return in.undefined();
}

Napi::Value event_elapsed_ms(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Event> start = in.record<Event>(0);
  const core::Ref<Event> end = in.record<Event>(1);
  double milliseconds = 0;
  in.finish(Event::elapsed_ms(*start, *end, milliseconds));
  return in.number(milliseconds);
}

}  // namespace

void export_event(Napi::Object& exports) {
  add_method<create_event>(exports, "createEvent", "device.createEvent");
  add_method<event_record>(exports, "eventRecord", "stream.record");
  add_method<event_wait>(exports, "eventWait", "stream.wait");
  add_method<event_state>(exports, "eventState", "event.state");
  add_method<event_query>(exports, "eventQuery", "event.isDone");
  add_method<event_done>(exports, "eventDone", "event.done");
  add_method<event_wait_sync>(exports, "eventWaitSync", "event.waitSync");
  add_method<event_elapsed_ms>(exports, "eventElapsedMs", "event.elapsedMs");
}

}  // namespace cuda_runtime::napi
