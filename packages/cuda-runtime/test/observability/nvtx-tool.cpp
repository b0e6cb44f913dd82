// A tool as Nsight Systems is one, for the test: NVTX loads it by NVTX_INJECTION64_PATH, and it
// prints the ranges that reach it.
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace {

std::string domain_name;

nvtxDomainHandle_t create_domain(const char* name) {
  domain_name = name;
  return reinterpret_cast<nvtxDomainHandle_t>(&domain_name);
}

int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  const auto& name = *reinterpret_cast<const std::string*>(domain);
  std::printf("push %s: %s\n", name.c_str(), attributes->message.ascii);
  std::fflush(stdout);
  return 0;
}

int pop(nvtxDomainHandle_t) {
  std::puts("pop");
  std::fflush(stdout);
  return 0;
}

template <typename Function>
void replace(NvtxFunctionTable table, int index, Function function) {
  *table[index] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) {
    return 0;
  }
  replace(table, NVTX_CBID_CORE2_DomainCreateA, create_domain);
  replace(table, NVTX_CBID_CORE2_DomainRangePushEx, push);
  replace(table, NVTX_CBID_CORE2_DomainRangePop, pop);
  return 1;
}
