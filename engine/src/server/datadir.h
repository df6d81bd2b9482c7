// The data directory: who may use it, what state it is in, which server it belongs to.
//
//   commitd.lock          held by the running server
//   auto.cnf              server UUID, as MySQL keeps it
//   commitd.format        there once initialised; version of the on-disk format
//   commitd.initializing  there while being initialised: what stands beside it is incomplete and may go
//   binlog.*              the log;   engine/  the storage engine's files;   role.state  epoch and role
#pragma once

#include <memory>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "base/uuid.h"

namespace commitd::server {

inline constexpr int kDatadirFormat = 1;

class Datadir {
 public:
  // Makes the directory when it is missing, locks it, reads or makes the server UUID, and clears away an
  // initialisation that was cut off.
  static Result<std::unique_ptr<Datadir>> open(FileSystem& fs, const std::string& path);
  ~Datadir();

  // Error for a format this release does not know, and for files in the directory that are not ours.
  Result<bool> initialized() const;
  Status begin_initialization();
  Status finish_initialization();

  const Uuid& server_uuid() const { return uuid_; }
  const std::string& path() const { return path_; }
  std::string engine_directory() const { return path_ + "/engine"; }

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
