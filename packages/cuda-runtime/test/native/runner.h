// A test runner in one page: TEST registers, CHECK notes a failure and goes on.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace crt_test {

struct Test {
  const char* title;
  std::function<void()> body;
};

std::vector<Test>& tests();
/// Leaves operations, a graph and a wait running.
void start_what_outlives_main();
void check(bool good, const char* text, const char* file, int line, const std::string& details);

struct Registration {
  Registration(const char* title, std::function<void()> body) {
    tests().push_back({title, std::move(body)});
  }
};

}  // namespace crt_test

#define CRT_JOIN_(a, b) a##b
#define CRT_JOIN(a, b) CRT_JOIN_(a, b)
#define TEST(title)                                                                       \
  static void CRT_JOIN(test_body_, __LINE__)();                                           \
  static const crt_test::Registration CRT_JOIN(test_registration_, __LINE__)(             \
      title, CRT_JOIN(test_body_, __LINE__));                                             \
  static void CRT_JOIN(test_body_, __LINE__)()
#define CHECK(condition) crt_test::check((condition), #condition, __FILE__, __LINE__, "")
#define CHECK_WITH(condition, details) \
  crt_test::check((condition), #condition, __FILE__, __LINE__, (details))
