#include "server/datadir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include <spdlog/spdlog.h>

#include "base/error_codes.h"
#include "server/cloned_data.h"

namespace commitd::server {
namespace {

constexpr std::string_view kFormatFile = "/commitd.format";
constexpr std::string_view kInitializingFile = "/commitd.initializing";
constexpr std::string_view kUuidFile = "/auto.cnf";
constexpr std::string_view kDurabilityFile = "/commitd.durability";
constexpr std::string_view kClean = " clean\n", kInUse = " in use\n";
constexpr std::string_view kUuidKey = "server-uuid=";

// A server that was killed a moment ago holds the lock until the kernel has taken it apart.
bool take_lock(int file) {
  constexpr auto kPatience = std::chrono::seconds(5);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

std::string_view name_of(Durability mode) {
  return mode == Durability::Xa ? "xa" : "single_log";
}

}  // namespace

Result<std::unique_ptr<Datadir>> Datadir::open(FileSystem& fs, const std::string& path) {
  std::error_code problem;
  std::filesystem::create_directories(path, problem);
  if (problem)
    return make_error(er::kErrorOnWrite, "Cannot make the data directory '{}': {}", path, problem.message());

  std::string lock_path = path + "/commitd.lock";
  int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  if (lock < 0) return make_error(er::kErrorOnWrite, "Cannot open '{}': {}", lock_path, std::strerror(errno));
  if (!take_lock(lock)) {
    ::close(lock);
    return make_error(er::kErrorOnWrite, "Another server is running on the data directory '{}'", path);
  }
  auto datadir = std::unique_ptr<Datadir>(new Datadir(fs, path, lock));
  auto cloned = settle_clone(fs, path);
  if (!cloned.ok()) return std::move(cloned).error();
  if (*cloned) spdlog::info("cloned data took the place of what was there datadir={}", path);
  COMMITD_RETURN_IF_ERROR(datadir->clear_unfinished_initialization());
  COMMITD_RETURN_IF_ERROR(datadir->load_uuid());
  return datadir;
}

Datadir::~Datadir() {
  ::close(lock_);
}

Result<bool> Datadir::initialized() const {
  std::string format_path = path_ + std::string(kFormatFile);
  if (fs_.exists(format_path)) {
    auto content = read_whole_file(fs_, format_path);
    if (!content.ok()) return std::move(content).error();
    int format = std::atoi(content->c_str());
    if (format != kDatadirFormat) {
      return make_error(er::kErrorOnRead,
                        "The data directory '{}' has format {}, this release knows format {}: start it with "
                        "the release that wrote it",
                        path_, format, kDatadirFormat);
    }
    return true;
  }
  auto names = fs_.list(path_);
  if (!names.ok()) return std::move(names).error();
  for (const auto& name : *names) {
    bool harmless = name == "commitd.lock" || name == "auto.cnf" || name == "mysqld-auto.cnf" ||
                    name == "plugins.list" || name == "role.state" || name.ends_with(".pem") ||
                    name == "lost+found" || name.starts_with(".") || name.ends_with(".sock") ||
                    name.ends_with(".tmp");
    if (!harmless) {
      return make_error(
          er::kErrorOnRead,
          "The data directory '{}' is neither empty nor a commitd data directory: it holds '{}'", path_,
          name);
    }
  }
  return false;
}

Status Datadir::mark_initialized(FileSystem& fs, const std::string& path) {
  return write_file_atomically(fs, path + std::string(kFormatFile), fmt::format("{}\n", kDatadirFormat));
}

Status Datadir::begin_initialization() {
  return write_file_atomically(fs_, path_ + std::string(kInitializingFile), "");
}

Status Datadir::finish_initialization() {
  COMMITD_RETURN_IF_ERROR(mark_initialized(fs_, path_));
  COMMITD_RETURN_IF_ERROR(fs_.remove(path_ + std::string(kInitializingFile)));
  return fs_.sync_directory(path_);
}

Status Datadir::store_durability_in(FileSystem& fs, const std::string& path, DurabilityState state) {
  std::string text(name_of(state.mode));
  text += state.clean ? kClean : kInUse;
  return write_file_atomically(fs, path + std::string(kDurabilityFile), text);
}

// Directories of earlier releases have no such file: they knew single_log only.
Status Datadir::check_durability(Durability wanted) const {
  const std::string file = path_ + std::string(kDurabilityFile);
  DurabilityState found;
  if (fs_.exists(file)) {
    auto content = read_whole_file(fs_, file);
    if (!content.ok()) return std::move(content).error();
    found.mode = content->starts_with(name_of(Durability::Xa)) ? Durability::Xa : Durability::SingleLog;
    found.clean = content->ends_with(kClean);
  }
  if (found.mode == wanted || found.clean) return {};
  return make_error(
      er::kErrorOnRead,
      "The data directory '{}' was used with commitd_durability={} and not shut down cleanly, or "
      "with transactions still prepared or unacknowledged. Start it with "
      "--commitd-durability={}, shut it down, and then start it with {}",
      path_, name_of(found.mode), name_of(found.mode), name_of(wanted));
}

Status Datadir::clear_unfinished_initialization() {
  if (!fs_.exists(path_ + std::string(kInitializingFile))) return {};
  if (!fs_.exists(path_ + std::string(kFormatFile))) {
    auto names = fs_.list(path_);
    if (!names.ok()) return std::move(names).error();
    for (const auto& name : *names) {
      if (name != "engine" && name != "commitd.durability" && !name.starts_with("binlog.")) continue;
      std::error_code problem;
      std::filesystem::remove_all(path_ + "/" + name, problem);
      if (problem)
        return make_error(er::kErrorOnWrite, "Cannot remove '{}/{}': {}", path_, name, problem.message());
    }
  }
  return fs_.remove(path_ + std::string(kInitializingFile));
}

Status Datadir::store_uuid_in(FileSystem& fs, const std::string& path, const Uuid& uuid) {
  return write_file_atomically(fs, path + std::string(kUuidFile),
                               fmt::format("[auto]\n{}{}\n", kUuidKey, uuid.to_string()));
}

Status Datadir::load_uuid() {
  std::string file = path_ + std::string(kUuidFile);
  if (!fs_.exists(file)) {
    uuid_ = Uuid::random();
    return store_uuid_in(fs_, path_, uuid_);
  }
  auto content = read_whole_file(fs_, file);
  if (!content.ok()) return std::move(content).error();
  auto key = content->find(kUuidKey);
  std::optional<Uuid> uuid;
  if (key != std::string::npos)
    uuid = Uuid::parse(std::string_view(*content).substr(key + kUuidKey.size(), 36));
  if (!uuid) return make_error(er::kErrorOnRead, "'{}' has no valid server-uuid", file);
  uuid_ = *uuid;
  return {};
}

}  // namespace commitd::server
