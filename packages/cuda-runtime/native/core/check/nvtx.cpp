#include "core/check/nvtx.h"

#ifdef CRT_WITH_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace cuda_runtime::core {

#ifdef CRT_WITH_NVTX
namespace {

// Null while no tool is attached.
nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("cuda-runtime");
  return handle;
}

}  // namespace

bool nvtx_is_on() { return domain() != nullptr; }

void nvtx_push(const char* name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  nvtxDomainRangePushEx(domain(), &attributes);
}

void nvtx_pop() { nvtxDomainRangePop(domain()); }
#else
bool nvtx_is_on() { return false; }

void nvtx_push(const char*) {}

void nvtx_pop() {}
#endif

}  // namespace cuda_runtime::core
