#include "cpu/device/level.h"

#include <cstdlib>

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace cuda_runtime::cpu {
namespace {

constexpr const char* kNames[] = {"baseline", "avx2", "avx512", "amx"};

#if defined(__x86_64__)
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bf16");
}

// CPUID leaf 7: AMX-BF16 is bit 22, AMX-TILE bit 24 of EDX. gcc 12's __builtin_cpu_supports knows
// them, clang's older versions do not.
bool has_amx() {
#if defined(__linux__)
  unsigned eax = 7;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
  if (((edx >> 22) & 1) == 0 || ((edx >> 24) & 1) == 0) return false;
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

CpuLevel detect() {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c");
  if (!avx2) return kCpuBaseline;
  if (!has_avx512()) return kCpuAvx2;
  return has_amx() ? kCpuAmx : kCpuAvx512;
}
#else
CpuLevel detect() { return kCpuBaseline; }
#endif

}  // namespace

CpuLevel machine_level() {
  static const CpuLevel level = detect();
  return level;
}

const char* level_name(CpuLevel level) { return kNames[level]; }

core::Status choose_level(const std::string& option, CpuLevel& level) {
  const char* variable = std::getenv("CUDA_RUNTIME_CPU_LEVEL");
  const bool from_option = !option.empty() && option != "auto";
  const std::string wanted = from_option ? option : variable != nullptr ? variable : "";
  level = machine_level();
  if (wanted.empty() || wanted == "auto") return {};
  const char* source = from_option ? "`cpu.level`" : "CUDA_RUNTIME_CPU_LEVEL";
  for (int i = 0; i <= kCpuAmx; ++i) {
    if (wanted != kNames[i]) continue;
    if (i <= machine_level()) {
      level = static_cast<CpuLevel>(i);
      return {};
    }
    return core::Status::argument(std::string(source) + " is " + wanted +
                                      ", this machine has " + level_name(machine_level()),
                                  "Choose a level that the machine has");
  }
  return core::Status::argument(
      std::string(source) + " is `" + wanted + "`, expected baseline, avx2, avx512 or amx",
      "Correct it or leave it out");
}

}  // namespace cuda_runtime::cpu
