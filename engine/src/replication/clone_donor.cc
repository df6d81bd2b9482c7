#include "replication/clone_donor.h"

#include <spdlog/spdlog.h>

#include <vector>

#include "base/crc32.h"
#include "base/error_codes.h"
#include "base/file_tree.h"
#include "replication/clone_pace.h"
#include "runtime/reactor.h"

namespace commitd::replication {
namespace {

constexpr size_t kPieceBytes = 256 << 10;

Error shutting_down() {
  return make_error(er::kServerShutdown, "Server shutdown in progress");
}

Error access_denied() {
  return make_error(er::kSpecificAccessDenied,
                    "Access denied; you need (at least one of) the BACKUP_ADMIN privilege(s) for this "
                    "operation");
}

// RocksDB's report of how it has opened the copy.
bool is_no_data(std::string_view name) {
  return name == "LOCK" || name.starts_with("LOG");
}

// One file of the copy, read piece by piece.
struct FileToSend {
  CloneFile file;
  std::unique_ptr<File> content;
  uint64_t sent = 0;
  uint32_t checksum = 0;
  std::string piece;

  Status read_piece() {
    piece.resize(std::min<uint64_t>(kPieceBytes, file.size - sent));
    auto got = content->read_at(sent, piece);
    if (!got.ok()) return std::move(got).error();
    if (*got != piece.size())
      return make_error(er::kErrorOnRead, "'{}' became shorter while it was cloned", file.name);
    checksum = crc32_of(piece, checksum);
    sent += piece.size();
    return {};
  }
};

}  // namespace

// The engine's files under names of their own, so that they stay whatever the engine does; and the log behind
// their commit point, which stays while they are sent.
class CloneDonor::Copy {
 public:
  Copy(FileSystem& fs, std::string directory) : fs_(fs), directory_(std::move(directory)) {}

  Status list() {
    auto names = fs_.list(directory_);
    if (!names.ok()) return std::move(names).error();
    for (std::string& name : *names) {
      if (is_no_data(name)) continue;
      auto file = fs_.open(path_of(name), FileSystem::Open::Read);
      if (!file.ok()) return std::move(file).error();
      auto size = (*file)->size();
      if (!size.ok()) return std::move(size).error();
      header.bytes += *size;
      files.push_back({std::move(name), *size});
    }
    return {};
  }
  std::string path_of(const std::string& name) const { return directory_ + "/" + name; }
  const std::string& directory() const { return directory_; }
  FileSystem& fs() { return fs_; }

  CloneHeader header;
  std::vector<CloneFile> files;
  std::unique_ptr<binlog::Log::Hold> log;

 private:
  FileSystem& fs_;
  const std::string directory_;
};

Task<void> CloneDonor::close() {
  closing_ = true;
  gate_.close(shutting_down());
  co_await gate_.drained();
}

Task<Status> CloneDonor::give(sql::Session& session, wire::Channel& channel, std::string_view request) {
  if (!environment_.may_have_it(session, channel)) co_return access_denied();
  COMMITD_CO_RETURN_IF_ERROR(check_clone_request(request));
  const auto visit = gate_.enter();
  if (!visit) co_return visit.error();
  if (environment_.engine() == nullptr)
    co_return make_error(er::kOptionPreventsStatement, "The server is uninitialized: it has no data yet");
  session.set_state("Cloning");
  co_return co_await give_copy(session, channel);
}

Task<Status> CloneDonor::give_copy(sql::Session& session, wire::Channel& channel) {
  WorkerThread disk("clone");
  Copy copy(*environment_.fs, fmt::format("{}/{}", environment_.directory, ++copies_));
  std::function<Status()> take_it = [this, &copy] { return take(copy); };
  Status status = co_await disk.run(std::move(take_it));
  if (status.ok()) status = co_await send(session, channel, disk, copy);
  std::function<Status()> remove = [&copy] { return remove_tree(copy.fs(), copy.directory()); };
  if (Status removed = co_await disk.run(std::move(remove)); !removed.ok())
    spdlog::warn("cannot remove the copy of a clone: {}", removed.error().message);
  co_return status;
}

Status CloneDonor::take(Copy& copy) {
  storage::Engine& engine = *environment_.engine();
  binlog::CommitPipeline& pipeline = *environment_.pipeline();
  if (pipeline.logging()) copy.log = pipeline.log().hold(engine.replay_position().file);
  COMMITD_RETURN_IF_ERROR(copy.fs().make_directory(environment_.directory));
  COMMITD_RETURN_IF_ERROR(remove_tree(copy.fs(), copy.directory()));
  auto point = engine.backup_to(copy.directory());
  if (!point.ok()) return std::move(point).error();
  if (copy.log) copy.log->move_to(point->position.file);
  copy.header.donor = environment_.server_uuid;
  copy.header.version = environment_.version;
  copy.header.format = environment_.format;
  copy.header.own_log = engine.has_own_log();
  copy.header.position = point->position;
  if (point->position.file != 0) copy.header.log_file = pipeline.log().file_name(point->position.file);
  copy.header.executed = std::move(point->executed);
  return copy.list();
}

Task<Status> CloneDonor::send(sql::Session& session, wire::Channel& channel, WorkerThread& disk, Copy& copy) {
  ClonePace pace(*environment_.bytes_per_second);
  channel.write_packet(encode(copy.header));
  for (const CloneFile& file : copy.files) {
    auto content = copy.fs().open(copy.path_of(file.name), FileSystem::Open::Read);
    if (!content.ok()) co_return std::move(content).error();
    FileToSend sending{file, *std::move(content), 0, 0, {}};
    channel.write_packet(encode(file));
    while (sending.sent < file.size) {
      if (closing_ || session.killed()) co_return shutting_down();
      std::function<Status()> read = [&sending] { return sending.read_piece(); };
      COMMITD_CO_RETURN_IF_ERROR(co_await disk.run(std::move(read)));
      const char tag = static_cast<char>(CloneTag::Data);
      channel.write_packet({&tag, 1}, sending.piece);
      COMMITD_CO_RETURN_IF_ERROR(co_await channel.flush());
      co_await sleep_until(pace.after(sending.piece.size(), Clock::now()));
    }
    channel.write_packet(encode_file_end(sending.checksum));
  }
  const char done = static_cast<char>(CloneTag::Done);
  channel.write_packet({&done, 1});
  co_return co_await channel.flush();
}

}  // namespace commitd::replication
