#include "cuda/graph/driver_dot.h"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cuda/driver.h"

namespace cuda_runtime::cuda {
namespace {

/// A fresh file of this process; goes with the object.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::error_code error;
    path_ = (std::filesystem::temp_directory_path(error) / "cuda-runtime-XXXXXX").string();
    const int descriptor = error ? -1 : mkstemp(path_.data());
    if (descriptor < 0) {
      path_.clear();
    } else {
      close(descriptor);
    }
  }
  ~TemporaryFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Empty when there is none.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

core::Status print_dot(Device& device, cudaGraph_t graph, bool verbose, std::string& text) {
  const TemporaryFile file;
  if (file.path().empty()) {
    return core::Status::argument("the driver draws into a file, and the folder for temporary files "
                                  "takes none",
                                  "Set TMPDIR to a folder that can be written to");
  }
  const RelaxedCapture relaxed;
  const unsigned flags = verbose ? cudaGraphDebugDotFlagsVerbose : 0;
  const cudaError_t error = cudaGraphDebugDotPrint(graph, file.path().c_str(), flags);
  if (error != cudaSuccess) return device.fail(error, "drawing a graph");
  std::ostringstream content;
  content << std::ifstream(file.path()).rdbuf();
  text = content.str();
  return {};
}

}  // namespace cuda_runtime::cuda
