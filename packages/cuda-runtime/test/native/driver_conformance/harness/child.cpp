#include "harness/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string_view>

namespace conformance {
namespace {

using Clock = std::chrono::steady_clock;

// Only calls that are safe between fork and exec.
[[noreturn]] void become_child(char* const* arguments, int output) {
  dup2(output, STDOUT_FILENO);
  execv(arguments[0], arguments);
  _exit(127);
}

// False when the time is over.
bool read_all(int input, Clock::time_point end, std::string& text) {
  char chunk[4096];
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd ready = {input, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    const ssize_t size = read(input, chunk, sizeof chunk);
    if (size <= 0) return true;
    text.append(chunk, static_cast<size_t>(size));
  }
}

// A process in the driver may take a while to die; the time limit holds for this wait as well.
bool reap(pid_t child, Clock::time_point end, int& status) {
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() >= end) return false;
    usleep(2000);
  }
  return true;
}

Observations parse(std::string_view text) {
  Observations observations;
  while (!text.empty()) {
    const size_t line_end = text.find('\n');
    const std::string_view line = text.substr(0, line_end);
    const size_t tab = line.find('\t');
    if (tab != std::string_view::npos) {
      observations[std::string(line.substr(0, tab))] = line.substr(tab + 1);
    }
    if (line_end == std::string_view::npos) break;
    text.remove_prefix(line_end + 1);
  }
  return observations;
}

}  // namespace

Observations play_in_child(const Play& play, const ChildTerms& terms) {
  const std::string mode(1, play.mode);
  const std::string usable = play.is_usable ? "1" : "0";
  std::string words[] = {terms.program, "--row",    play.id,   "--case", play.name,    "--mode",
                         mode,          "--usable", usable,    "--kernels", terms.kernels};
  char* arguments[std::size(words) + 1] = {};
  for (size_t i = 0; i < std::size(words); ++i) arguments[i] = words[i].data();

  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return {{"process", "no pipe"}};
  const auto end = Clock::now() + std::chrono::seconds(terms.limit_seconds);
  const pid_t child = fork();
  if (child == 0) become_child(arguments, pipe_ends[1]);
  close(pipe_ends[1]);
  if (child < 0) {
    close(pipe_ends[0]);
    return {{"process", "no fork"}};
  }

  std::string text;
  const bool is_over = read_all(pipe_ends[0], end, text);
  close(pipe_ends[0]);
  int status = 0;
  const bool is_reaped = is_over && reap(child, end, status);
  Observations observations = parse(text);
  if (!is_reaped) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    observations["process"] = "hang";
  } else if (WIFSIGNALED(status)) {
    observations["process"] = "crash";
    observations["signal"] = strsignal(WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    observations["process"] = "exit " + std::to_string(WEXITSTATUS(status));
  }
  return observations;
}

}  // namespace conformance
