// The list of backends: the only file that knows both the core and what fills it.
#include "core/backends.h"

#include <features.h>

#include "cpu/backend.h"
#include "version.h"

#ifdef CRT_WITH_CUDA
#include "cuda/backend.h"
#include "cuda/probe.h"
#endif

namespace cuda_runtime::core {
namespace {

/// Why CUDA cannot be used, with what the driver says of itself.
struct CudaReport {
  std::string reason;
  std::string detail;
  std::string hint;
  int driver_version = 0;
  int runtime_version = 0;
  int devices = 0;
};

CudaReport report_cuda() {
  CudaReport report;
#ifdef CRT_WITH_CUDA
  const cuda::ProbeResult probe = cuda::probe();
  report = {probe.reason,         probe.detail,          probe.hint,
            probe.driver_version, probe.runtime_version, probe.devices};
#else
  report.reason = "BUILT_WITHOUT_CUDA";
  report.detail = "this addon was built without the CUDA toolkit";
  report.hint = "Install the CUDA toolkit and run npx @altstream/cuda-runtime build";
#endif
  return report;
}

void write_identity(JsonWriter& json) {
  json.field("addonVersion", CRT_VERSION);
  json.field("napi", static_cast<int64_t>(NAPI_VERSION));
#ifdef __GLIBC__
  json.field("libc", "glibc");
#endif
}

}  // namespace

Status open_backend(const std::string& name, const RuntimeOptions& options, Ref<Runtime>& runtime) {
  if (name == "cpu") return cpu::CpuBackend::open(options, runtime);
  if (name != "cuda") {
    return Status::argument("`backend` is `" + name + "`, expected cuda or cpu");
  }
  const CudaReport report = report_cuda();
#ifdef CRT_WITH_CUDA
  if (report.reason.empty()) return cuda::CudaBackend::open(options, runtime);
#endif
  Status status = Status::error("CRT_UNAVAILABLE", 0, report.detail, report.hint);
  status.fault().reason = report.reason;
  return status;
}

std::string probe_backends() {
  const CudaReport cuda = report_cuda();
  JsonWriter json;
  json.begin_array();
  json.begin_object();
  json.field("backend", "cpu");
  json.field("usable", true);
  json.field("detail", "runs on this machine's processors");
  json.field("devices", int64_t{1});
  write_identity(json);
  json.end_object();
  json.begin_object();
  json.field("backend", "cuda");
  json.field("usable", cuda.reason.empty());
  if (!cuda.reason.empty()) json.field("reason", cuda.reason);
  json.field("detail", cuda.detail);
  json.field("driverVersion", static_cast<int64_t>(cuda.driver_version));
  json.field("runtimeVersion", static_cast<int64_t>(cuda.runtime_version));
  json.field("devices", static_cast<int64_t>(cuda.devices));
  write_identity(json);
  json.end_object();
  json.end_array();
  return json.take();
}

}  // namespace cuda_runtime::core
