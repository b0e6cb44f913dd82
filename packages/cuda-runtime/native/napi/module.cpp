// Entry of the addon. The functions are listed in src/native/binding.ts.
#include <napi.h>

#include <new>

#include "napi/environment.h"
#include "napi/functions.h"

namespace cuda_runtime::napi {

static Napi::Object initialize(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData<Environment>(new Environment(env));
  export_runtime(exports);
  export_stream(exports);
  export_event(exports);
  export_memory(exports);
  export_kernel(exports);
  export_graph(exports);
  export_file(exports);
  export_tasks(exports);
  export_handles(exports);
  export_graph_nodes(exports);
  export_graph_exec(exports);
  return exports;
}

}  // namespace cuda_runtime::napi

static Napi::Object init(Napi::Env env, Napi::Object exports) {
  try {
    return cuda_runtime::napi::initialize(env, exports);
  } catch (const std::bad_alloc&) {
    throw Napi::Error::New(env, "no memory to load the addon");
  }
}

NODE_API_MODULE(cuda_runtime, init)
