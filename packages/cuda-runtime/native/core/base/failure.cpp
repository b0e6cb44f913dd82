#include "core/base/failure.h"

#include <new>
#include <stdexcept>
#include <system_error>

namespace cuda_runtime::core {
namespace {

Status out_of_memory(std::string detail) {
  return Status::error("CRT_OOM", kMemoryAllocation, std::move(detail),
                       "Dispose buffers, wait for pending work, or use a smaller batch");
}

}  // namespace

Status status_of_exception() {
  try {
    throw;
  } catch (const StatusException& refused) {
    return Status(refused.fault());
  } catch (const std::bad_alloc&) {
    return out_of_memory("the process has no memory left for it");
  } catch (const std::length_error&) {
    return out_of_memory("it is larger than any memory");
  } catch (const std::system_error& error) {
    return out_of_memory(std::string("the system refused: ") + error.what());
  } catch (const std::exception& error) {
    return Status::error("CRT_INTERNAL", 0, std::string("unexpected failure: ") + error.what(),
                         "Report it");
  } catch (...) {
    return Status::error("CRT_INTERNAL", 0, "unexpected failure", "Report it");
  }
}

}  // namespace cuda_runtime::core
