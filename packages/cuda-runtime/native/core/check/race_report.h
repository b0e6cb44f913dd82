// What the checkers tell of: accesses that met, or one that nothing allows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/memory/buffer.h"
#include "core/origin.h"

namespace cuda_runtime::core {

/// An operation: what it is called, and where it was submitted.
struct Submission {
  std::string name;
  Origin origin;
};

struct RaceReport {
  // "race"; "not-allocated" for memory of a graph; "red-zone" for a write outside a buffer
  std::string kind;
  std::string first;
  std::string second;
  std::string buffer;
  std::string message;
  Origin first_origin;
  Origin second_origin;
};

/// How an operation touches a buffer.
struct Touch {
  const Submission& by;
  uint8_t mode;  // AccessMode
  uint64_t begin;
  uint64_t end;
};

/// Both touch some of the same bytes, and nothing orders them.
RaceReport make_race(const Buffer& buffer, const Touch& first, const Touch& second);
/// `touch` comes behind the free of the memory, or before its allocation.
RaceReport make_outside_life(const Buffer& buffer, const Touch& touch, bool behind,
                             const Submission& memory_node);
/// No launch has left the memory of a graph allocated for `touch`.
RaceReport make_not_allocated(const Buffer& buffer, const Touch& touch);

/// JSON array.
std::string to_json(const std::vector<RaceReport>& reports);

}  // namespace cuda_runtime::core
