#include "runner.h"

#include <cstring>

namespace crt_test {
namespace {
int failures = 0;
}

std::vector<Test>& tests() {
  static std::vector<Test> list;
  return list;
}

void check(bool good, const char* text, const char* file, int line, const std::string& details) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "  %s:%d: %s %s\n", file, line, text, details.c_str());
}

}  // namespace crt_test

// Arguments: parts of titles; without any, all tests run. `--exit-while-busy` ends the process
// while work is running, which must be as clean under sanitizers as any other end.
int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "--exit-while-busy") == 0) {
    crt_test::start_what_outlives_main();
    return 0;
  }
  int passed = 0;
  int failed = 0;
  for (const crt_test::Test& test : crt_test::tests()) {
    bool chosen = count == 1;
    for (int i = 1; i < count; ++i) chosen |= std::strstr(test.title, arguments[i]) != nullptr;
    if (!chosen) continue;
    const int before = crt_test::failures;
    test.body();
    const bool good = crt_test::failures == before;
    std::printf("%s %s\n", good ? "ok  " : "FAIL", test.title);
    std::fflush(stdout);
    ++(good ? passed : failed);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
