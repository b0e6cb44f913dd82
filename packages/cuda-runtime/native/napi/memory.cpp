// alloc … notify: buffers and what moves their bytes.
#include "core/launch.h"
#include "core/graph/capture_memory.h"
#include "core/graph/capture_rules.h"
#include "core/runtime.h"
#include "napi/arguments.h"
#include "napi/functions.h"

namespace cuda_runtime::napi {
namespace {

using core::Buffer;
using core::Stream;

Napi::Value alloc(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  core::Ref<Buffer> buffer;
  in.finish(core::allocate(*stream, in.size(1, "bytes"), in.string(2), buffer));
  return in.handle_of(buffer);
}

Napi::Value capture_alloc(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  core::Ref<core::GraphBuffer> buffer;
  in.finish(core::capture_alloc(*stream, in.size(1, "bytes"), in.string(2), buffer));
  return in.handle_of(buffer);
}

Napi::Value capture_free(const Napi::CallbackInfo& info) {
  Arguments in(info);
  in.finish(core::capture_free(*in.record<Stream>(0), in.memory(1)));
  return in.undefined();
}

Napi::Value buffer_info(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Buffer> buffer = in.memory(0);
  core::JsonWriter json;
  json.begin_object();
  json.field("bytes", buffer->bytes());
  json.field("label", buffer->label());
  json.end_object();
  return in.text(json.take());
}

/// What the array of a host buffer keeps: deleted by whoever is last, its maker or its finalizer.
struct KeptMemory {
  ArrayMemory memory;
  bool is_made = false;
  bool is_finalized = false;
};

void finalize_array(napi_env, void*, void* hint) {
  auto* kept = static_cast<KeptMemory*>(hint);
  if (kept->is_made) {
    delete kept;
  } else {
    kept->is_finalized = true;
  }
}

/// Node runs the finalizer of an array that it refuses to make, at once or at the next collection.
napi_status make_array(napi_env env, const core::Ref<Buffer>& buffer, napi_value* array,
                       ArrayMemory** reference) {
  auto* kept = new KeptMemory{{buffer, core::HoldNote("array", *buffer)}};
  const napi_status status = napi_create_external_arraybuffer(
      env, buffer->data(), buffer->bytes(), finalize_array, kept, array);
  kept->is_made = true;
  if (status == napi_ok) {
    *reference = &kept->memory;
    return status;
  }
  // Nobody can reach an array, if there is one. Its finalizer, if it comes, deletes the rest.
  kept->memory = {};
  if (kept->is_finalized) delete kept;
  return status;
}

/// An error that says which array could not be made; whatever Node threw is replaced.
core::Status no_array(napi_env env, const Buffer& buffer) {
  napi_value thrown = nullptr;
  napi_get_and_clear_last_exception(env, &thrown);
  return core::Status::error("CRT_OOM", core::kMemoryAllocation,
                             "Node makes no array of " + std::to_string(buffer.bytes()) + " bytes",
                             "Use host buffers of at most `buffer.constants.MAX_LENGTH` bytes");
}

/// The array buffer is the memory itself; it keeps the record alive until it is collected, or until
/// `release` detaches it.
Napi::Value host_array(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Buffer> buffer = in.memory(0);
  auto& arrays = in.environment().host_arrays;
  if (buffer->kind() != core::Kind::kHostBuffer || arrays.count(in.handle(0)) != 0) {
    // V8 ends the process when two array buffers name the same memory.
    in.finish(core::Status::argument("it is no host buffer, or has its array",
                                     "Ask once for the array of a host buffer"));
  }
  Napi::ArrayBuffer array;
  ArrayMemory* kept = nullptr;
  if (buffer->bytes() == 0) {
    array = Napi::ArrayBuffer::New(info.Env(), 0);
  } else {
    napi_value made = nullptr;
    if (make_array(info.Env(), buffer, &made, &kept) != napi_ok) {
      in.finish(no_array(info.Env(), *buffer));
    }
    array = Napi::ArrayBuffer(info.Env(), made);
  }
  arrays.emplace(in.handle(0), HostArray{Napi::Weak(array), kept});
  return array;
}

Napi::Value alloc_host(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<core::Runtime> runtime = in.record<core::Runtime>(0);
  const uint64_t bytes = in.size(1, "bytes");
  in.finish(check_array_bytes(*runtime, bytes, in.size(2, "most")));
  core::Ref<Buffer> buffer;
  in.finish(core::allocate_host(*runtime, bytes, buffer));
  return in.handle_of(buffer);
}

Napi::Value write(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  const Napi::Uint8Array source = in.bytes(3, "source");
  in.finish(core::write(*stream, {in.memory(1), in.size(2, "byteOffset")}, source.Data(),
                        source.ByteLength()));
  return in.undefined();
}

Napi::Value read(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  in.finish(core::read(*stream, {in.memory(1), in.size(2, "byteOffset")}, in.size(3, "bytes"),
                       in.sink(), in.integer(4, "token")));
  return in.undefined();
}

Napi::Value take_staged(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Napi::Uint8Array destination = in.bytes(1, "destination");
  const bool taken = in.environment().completions->take_staged(
      in.integer(0, "token"), destination.Data(), destination.ByteLength());
  if (!taken) {
    in.finish(core::Status::argument("no bytes of the size of `destination` are staged for it",
                                     "Take the bytes of a read once, after it has completed"));
  }
  return in.undefined();
}

Napi::Value copy(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  in.finish(core::copy(*stream, {in.memory(1), in.size(2, "toOffset")},
                       {in.memory(3), in.size(4, "fromOffset")}, in.size(5, "bytes")));
  return in.undefined();
}

Napi::Value fill(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  const auto byte = static_cast<uint8_t>(in.up_to(3, "byte", UINT8_MAX));
  in.finish(core::fill(*stream, {in.memory(1), in.size(2, "byteOffset")}, byte,
                       in.size(4, "bytes")));
  return in.undefined();
}

Napi::Value notify(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  in.finish(core::notify(*stream, in.sink(), in.integer(1, "token")));
  return in.undefined();
}

}  // namespace

void export_memory(Napi::Object& exports) {
  add_method<alloc>(exports, "alloc", "device.alloc");
  add_method<capture_alloc>(exports, "captureAlloc", "device.alloc");
  add_method<capture_free>(exports, "captureFree", "stream.free");
  add_method<buffer_info>(exports, "bufferInfo", "buffer.info");
  add_method<alloc_host>(exports, "allocHost", "device.allocHost");
  add_method<host_array>(exports, "hostArray", "device.allocHost");
  add_method<write>(exports, "write", "stream.write");
  add_method<read>(exports, "read", "stream.read");
  add_method<take_staged>(exports, "takeStaged", "stream.read");
  add_method<copy>(exports, "copy", "stream.copy");
  add_method<fill>(exports, "fill", "stream.fill");
  add_method<notify>(exports, "notify", "stream.notify");
}

}  // namespace cuda_runtime::napi
