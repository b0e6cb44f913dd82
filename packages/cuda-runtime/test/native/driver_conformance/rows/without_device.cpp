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
void no_device(const std::string&) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  int count = 0;
  int version = 0;
  put("call", std::to_string(int(cudaGetDeviceCount(&count))));
  cudaDriverGetVersion(&version);
  put("version", std::to_string(version));
}

void self_test(const std::string& name) {
  put("call", "7");
  if (name == "crash" || name == "known crash") raise(SIGSEGV);
  if (name == "hang") pause();
  if (name == "exit") std::exit(5);
  if (name != "incomplete") put("usable", "yes");
}

}  // namespace

bool play_without_device(const std::string& id, const std::string& name) {
  if (id == "CD04") {
    no_device(name);
  } else if (id == "SELF") {
    self_test(name);
  } else {
    return false;
  }
  return true;
}

}  // namespace conformance
