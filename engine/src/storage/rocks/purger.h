// Purges garbage from RocksDB: merges the files that hold it with those below, a slice at a time, or
// everything in one go.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <rocksdb/db.h>

#include "storage/purging.h"
#include "storage/rocks/history.h"

namespace commitd::storage {

class Purger {
 public:
  Purger(std::shared_ptr<rocksdb::DB> db, std::shared_ptr<History> history)
      : db_(std::move(db)), history_(std::move(history)) {}

  // As Purging::purge().
  Result<Purging::Slice> purge(uint64_t pages);
  // What is under way is given up where that is possible, and nothing begins any more.
  void stop() { stopped_ = true; }

 private:
  // Of one call of CompactFiles.
  struct Merge {
    std::vector<std::string> files;
    int output_level = 0;
    uint64_t bytes = 0;  // of these and what is below them
    uint64_t file_limit = 0;
    bool later = false;  // what is left is being merged by RocksDB
  };
  Result<Purging::Slice> everything();
  Result<Purging::Slice> begin_round();
  Merge next(uint64_t pages) const;
  Merge newest_files(const rocksdb::ColumnFamilyMetaData& found, uint64_t most_bytes) const;
  Merge first_files(const rocksdb::ColumnFamilyMetaData& found, size_t level, uint64_t most_bytes) const;
  bool belongs_to_round(const rocksdb::SstFileMetaData& file) const;
  bool is_being_merged(const rocksdb::ColumnFamilyMetaData& found) const;  // something of the round
  uint64_t usual_file_bytes() const;

  const std::shared_ptr<rocksdb::DB> db_;
  const std::shared_ptr<History> history_;
  std::atomic<bool> stopped_{false};
  bool in_round_ = false;
  std::set<uint32_t> indexes_;         // of the round
  rocksdb::SequenceNumber up_to_ = 0;  // what is newer is the next round's
};

}  // namespace commitd::storage
