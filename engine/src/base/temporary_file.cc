#include "base/temporary_file.h"

#include <atomic>

#include <fmt/format.h>

namespace commitd {
namespace {

constexpr std::string_view kPrefix = "commitd-cache-", kSuffix = ".tmp";

// Another server may use the directory too, and remove what it takes for left over.
Status forget_name(FileSystem& fs, const std::string& path) {
  auto removed = fs.remove(path);
  return removed.ok() || !fs.exists(path) ? Status{} : removed;
}

}  // namespace

Result<std::unique_ptr<File>> open_temporary_file(const TemporaryPlace& place) {
  static std::atomic<uint64_t> last{0};
  for (;;) {
    const std::string path = fmt::format("{}/{}{}{}", place.directory, kPrefix, ++last, kSuffix);
    auto file = place.fs->open(path, FileSystem::Open::Create);
    if (!file && place.fs->exists(path)) continue;
    if (!file) return std::move(file).error();
    COMMITD_RETURN_IF_ERROR(forget_name(*place.fs, path));
    return std::move(*file);
  }
}

Status remove_temporary_files(const TemporaryPlace& place) {
  auto names = place.fs->list(place.directory);
  if (!names) return std::move(names).error();
  for (const std::string& name : *names) {
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    COMMITD_RETURN_IF_ERROR(forget_name(*place.fs, place.directory + "/" + name));
  }
  return {};
}

}  // namespace commitd
