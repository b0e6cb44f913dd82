// Rows that are played without a device: CD04, and those that test the program itself.
#include "rows/without_device.h"

#include <cuda_runtime_api.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace conformance {
namespace {

void put(const char* key, const std::string& value) {
  std::printf("%s\t%s\n", key, value.c_str());
  std::fflush(stdout);
}

// No call of CUDA may come before.
void no_device() {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  int count = 0;
  int version = 0;
  put("call", std::to_string(int(cudaGetDeviceCount(&count))));
  cudaDriverGetVersion(&version);
  put("version", std::to_string(version));
}

void self_test(const std::string& name, char mode) {
  put("call", "7");
  if (name == "crash" || name == "known crash") raise(SIGSEGV);
  if (name == "hang") pause();
  if (name == "exit") std::exit(5);
  // Two cases have the right call in one mode only; this one says which mode it was told.
  if (name == "mode G") return put("usable", std::string("no: ") + mode);
  if (name != "incomplete") put("usable", "yes");
}

}  // namespace

bool has_program_without_device(const std::string& id) { return id == "CD04" || id == "SELF"; }

void play_without_device(const std::string& id, const std::string& name, char mode) {
  if (id == "CD04") return no_device();
  self_test(name, mode);
}

}  // namespace conformance
