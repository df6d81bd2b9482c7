#include "server/cloned_data.h"

#include <fmt/format.h>

#include <vector>

#include "base/error_codes.h"
#include "base/file_tree.h"
#include "server/datadir.h"

namespace commitd::server {
namespace {

constexpr std::string_view kRemoving = "remove ", kMoving = "move ";

std::string note_path(const std::string& datadir) {
  return datadir + "/commitd.clone";
}

// What a copy has, too. The file that makes it a data directory is written over, as the last one.
bool is_replaced(std::string_view name) {
  return name.starts_with("binlog.") || name == "commitd_backup_info" || name == "commitd_clone_info" ||
         name == "commitd.durability" || name == "commitd.initializing";
}

Status note(FileSystem& fs, const std::string& datadir, std::string_view step, const Uuid& uuid) {
  return write_file_atomically(fs, note_path(datadir), fmt::format("{}{}\n", step, uuid.to_string()));
}

struct Note {
  bool moving = false;
  Uuid uuid;
};

Result<Note> read_note(FileSystem& fs, const std::string& datadir) {
  auto text = read_whole_file(fs, note_path(datadir));
  if (!text.ok()) return std::move(text).error();
  std::string_view rest = *text;
  const bool moving = rest.starts_with(kMoving);
  if (moving || rest.starts_with(kRemoving)) {
    rest.remove_prefix(moving ? kMoving.size() : kRemoving.size());
    if (auto uuid = Uuid::parse(rest.substr(0, rest.find('\n')))) return Note{moving, *uuid};
  }
  return make_error(er::kErrorOnRead, "'{}' does not say what is to be done", note_path(datadir));
}

Status remove_former_data(FileSystem& fs, const std::string& datadir) {
  COMMITD_RETURN_IF_ERROR(remove_tree(fs, Datadir::engine_directory_in(datadir)));
  auto names = fs.list(datadir);
  if (!names.ok()) return std::move(names).error();
  for (const std::string& name : *names) {
    if (is_replaced(name)) COMMITD_RETURN_IF_ERROR(fs.remove(fmt::format("{}/{}", datadir, name)));
  }
  return fs.sync_directory(datadir);
}

// Files only; those that have moved already are not in the way.
Status move_files(FileSystem& fs, const std::string& from, const std::string& to) {
  auto names = fs.list(from);
  if (!names.ok()) return std::move(names).error();
  for (const std::string& name : *names) {
    const std::string path = fmt::format("{}/{}", from, name);
    if (path == Datadir::engine_directory_in(from)) continue;
    COMMITD_RETURN_IF_ERROR(fs.rename(path, fmt::format("{}/{}", to, name)));
  }
  COMMITD_RETURN_IF_ERROR(fs.sync_directory(to));
  return fs.sync_directory(from);
}

Status move_clone(FileSystem& fs, const std::string& datadir) {
  const std::string clone = clone_directory_in(datadir);
  const std::string from = Datadir::engine_directory_in(clone), to = Datadir::engine_directory_in(datadir);
  COMMITD_RETURN_IF_ERROR(fs.make_directory(to));
  COMMITD_RETURN_IF_ERROR(move_files(fs, from, to));
  return move_files(fs, clone, datadir);
}

}  // namespace

std::string clone_directory_in(const std::string& datadir) {
  return datadir + "/#clone";
}

std::string donor_directory_in(const std::string& datadir) {
  return datadir + "/#clone_donor";
}

Status remove_copy(FileSystem& fs, const std::string& directory) {
  COMMITD_RETURN_IF_ERROR(remove_tree(fs, Datadir::engine_directory_in(directory)));
  return remove_tree(fs, directory);
}

Status decide_on_clone(FileSystem& fs, const std::string& datadir, const Uuid& server_uuid) {
  return note(fs, datadir, kRemoving, server_uuid);
}

Result<bool> settle_clone(FileSystem& fs, const std::string& datadir) {
  COMMITD_RETURN_IF_ERROR(remove_tree(fs, donor_directory_in(datadir)));
  const bool decided = fs.exists(note_path(datadir));
  if (decided) {
    auto found = read_note(fs, datadir);
    if (!found.ok()) return std::move(found).error();
    if (!found->moving) {
      COMMITD_RETURN_IF_ERROR(remove_former_data(fs, datadir));
      COMMITD_RETURN_IF_ERROR(note(fs, datadir, kMoving, found->uuid));
    }
    COMMITD_RETURN_IF_ERROR(move_clone(fs, datadir));
    COMMITD_RETURN_IF_ERROR(Datadir::store_uuid_in(fs, datadir, found->uuid));
    COMMITD_RETURN_IF_ERROR(fs.remove(note_path(datadir)));
    COMMITD_RETURN_IF_ERROR(fs.sync_directory(datadir));
  }
  COMMITD_RETURN_IF_ERROR(remove_copy(fs, clone_directory_in(datadir)));
  return decided;
}

}  // namespace commitd::server
