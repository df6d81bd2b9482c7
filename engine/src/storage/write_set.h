// What a transaction will change in the storage engine: an ordered map from key to new value or tombstone. A
// session fills one while it executes; a replica and recovery fill one from row events. The same commit then
// takes it into the engine.
//
// Row ids of tables without a primary key are given in log order at commit, so that every member of a cluster
// gives the same ones: until then a new row has a provisional id (bit 63 set, counted from 0 per table and
// transaction).
//
// The values of a large one may be in a temporary file (spill_beyond); keys, and what undoes changes, stay in
// memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/btree_map.h>

#include "base/temporary_file.h"

namespace commitd {

inline constexpr uint64_t kProvisionalRowId = uint64_t{1} << 63;

class WriteSet {
 public:
  // Where an entry holds an 8-byte provisional row id that commit replaces by the final one.
  enum class RowId : uint8_t { Final, AtKeyEnd, AtValueEnd };

  struct Entry {
    std::optional<std::string> value;  // nullopt = the key is deleted; of a spilled one: see read_value()
    uint64_t table_id = 0;             // needed only when row_id != Final
    RowId row_id = RowId::Final;
    uint32_t spilled_length = 0;  // not 0: the value is in the file
    uint64_t spilled_at = 0;
    bool spilled() const { return spilled_length != 0; }
  };
  using Map = absl::btree_map<std::string, Entry, std::less<>>;

  WriteSet() = default;
  // For one that is never taken back in part (replay): marks and rollback_to() are not for it.
  static WriteSet without_undo() {
    WriteSet writes;
    writes.keeps_undo_ = false;
    return writes;
  }

  // From now on values that come when more than `bytes` are in memory go to a temporary file. Not those of
  // tables in memory.
  void spill_beyond(size_t bytes, TemporaryPlace place);
  // Writes out what waits for it; to be called between changes. An error changes nothing.
  Status write_spilled();
  // Some value is in the file.
  bool spilled() const { return spilled_bytes_ != 0; }
  // The value of an entry that has one.
  Status read_value(const Entry& entry, std::string& into) const;

  void put(std::string key, std::string value, RowId row_id = RowId::Final, uint64_t table_id = 0);
  void erase(std::string key, RowId row_id = RowId::Final, uint64_t table_id = 0);
  // Everything in [begin, end) goes before the other entries are applied (DROP TABLE, TRUNCATE).
  void erase_range(std::string begin, std::string end);

  const Entry* find(std::string_view key) const;
  const Map& entries() const { return entries_; }
  const std::vector<std::pair<std::string, std::string>>& erased_ranges() const { return erased_ranges_; }
  bool empty() const {
    return entries_.empty() && erased_ranges_.empty() && auto_increment_.empty() &&
           restarted_auto_increment_.empty();
  }
  size_t byte_size() const { return byte_size_ + waiting_.size(); }  // in memory

  uint64_t new_provisional_row_id(uint64_t table_id);  // kProvisionalRowId | n
  const std::map<uint64_t, uint64_t>& provisional_counts() const { return provisional_counts_; }

  // The table's next AUTO_INCREMENT value is at least `next` from this commit on.
  void raise_auto_increment(uint64_t table_id, uint64_t next);
  const std::map<uint64_t, uint64_t>& auto_increments() const { return auto_increment_; }
  // It is `next`, even if it was higher (ALTER TABLE, which nobody uses the table beside).
  void restart_auto_increment(uint64_t table_id, uint64_t next);
  const std::map<uint64_t, uint64_t>& restarted_auto_increments() const { return restarted_auto_increment_; }

  // Savepoints and failed statements: take back everything since the mark.
  using Mark = size_t;
  Mark mark() const { return undo_.size(); }
  void rollback_to(Mark mark);
  void clear();

 private:
  void set(std::string key, Entry entry);
  void move_out(std::string_view key, Entry& entry);
  void restore(const std::string& key, std::optional<Entry> previous);

  struct Undo {
    enum class What : uint8_t { Entry, ProvisionalCount, AutoIncrement } what;
    std::string key;
    std::optional<Entry> previous;
    uint64_t table_id = 0;
    uint64_t previous_number = 0;
  };
  Map entries_;
  std::vector<std::pair<std::string, std::string>> erased_ranges_;
  std::map<uint64_t, uint64_t> provisional_counts_;
  std::map<uint64_t, uint64_t> auto_increment_;
  std::map<uint64_t, uint64_t> restarted_auto_increment_;  // before those above; never taken back in part
  std::vector<Undo> undo_;
  size_t byte_size_ = 0;
  bool keeps_undo_ = true;

  TemporaryPlace place_;
  size_t most_in_memory_ = 0;
  std::shared_ptr<File> file_;
  std::string waiting_;         // the newest values for the file
  uint64_t spilled_bytes_ = 0;  // with those
};

}  // namespace commitd
