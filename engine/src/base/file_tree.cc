#include "base/file_tree.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error_codes.h"

namespace commitd {

// File by file, so that a file system that only knows files removes them, too; then the directories.
Status remove_tree(FileSystem& fs, const std::string& directory) {
  std::error_code problem;
  auto names = fs.list(directory);
  if (!names.ok()) {
    if (!fs.exists(directory)) return {};
    return std::move(names).error();
  }
  for (const std::string& name : *names) {
    const std::string path = fmt::format("{}/{}", directory, name);
    if (std::filesystem::is_directory(path, problem)) {
      COMMITD_RETURN_IF_ERROR(remove_tree(fs, path));
    } else {
      COMMITD_RETURN_IF_ERROR(fs.remove(path));
    }
  }
  std::filesystem::remove(directory, problem);
  if (!problem) return {};
  return make_error(er::kErrorOnWrite, "Cannot remove '{}': {}", directory, problem.message());
}

}  // namespace commitd
