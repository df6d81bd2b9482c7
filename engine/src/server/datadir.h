// The data directory: who may use it, what state it is in, which server it belongs to.
//
//   commitd.lock          held by the running server
//   auto.cnf              server UUID, as MySQL keeps it
//   plugins.list          what INSTALL PLUGIN has installed
//   commitd.format        there once initialised; version of the on-disk format
//   commitd.initializing  there while being initialised: what stands beside it is incomplete and may go
//   commitd_backup_info   there when it was made by BACKUP TO: its place in the source's log
//   commitd_clone_info    there when it was made by CLONE: where it comes from
//   commitd.durability    commitd_durability it is used with, and whether it was closed cleanly
//   binlog.*              the log;   engine/  the storage engine's files;   role.state  epoch and role
//   #clone, commitd.clone what CLONE INSTANCE is about to put here (cloned_data.h)
#pragma once

#include <memory>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "base/uuid.h"

namespace commitd::server {

inline constexpr int kDatadirFormat = 1;

enum class Durability : uint8_t { SingleLog, Xa };

class Datadir {
 public:
  // Makes the directory when it is missing, locks it, finishes a clone that was decided on, reads or makes
  // the server UUID, and clears away an initialisation that was cut off.
  static Result<std::unique_ptr<Datadir>> open(FileSystem& fs, const std::string& path);
  ~Datadir();

  // Error for a format this release does not know, and for files in the directory that are not ours.
  Result<bool> initialized() const;
  Status begin_initialization();
  Status finish_initialization();

  struct DurabilityState {
    Durability mode = Durability::SingleLog;
    bool clean = false;  // all of the log is in the engine's files, and nothing is prepared
  };
  Status store_durability(DurabilityState state) const { return store_durability_in(fs_, path_, state); }
  static Status store_durability_in(FileSystem& fs, const std::string& path, DurabilityState state);
  // An error when the directory was last used otherwise and was not closed cleanly.
  Status check_durability(Durability wanted) const;

  const Uuid& server_uuid() const { return uuid_; }
  const std::string& path() const { return path_; }
  std::string engine_directory() const { return engine_directory_in(path_); }
  static std::string engine_directory_in(const std::string& path) { return path + "/engine"; }
  static Status store_uuid_in(FileSystem& fs, const std::string& path, const Uuid& uuid);
  // The last step of making a data directory: from here on it counts as one.
  static Status mark_initialized(FileSystem& fs, const std::string& path);

 private:
  Datadir(FileSystem& fs, std::string path, int lock) : fs_(fs), path_(std::move(path)), lock_(lock) {}
  Status load_uuid();
  Status clear_unfinished_initialization();

  FileSystem& fs_;
  std::string path_;
  int lock_;
  Uuid uuid_;
};

}  // namespace commitd::server
