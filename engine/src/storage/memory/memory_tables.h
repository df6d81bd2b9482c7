// The rows of tables in memory: one ordered map of keys, gone with the process. Not transactional: a batch
// that is committed is there at once for everybody; there are no snapshots, and a scan that is under way when
// a batch comes meets what is ahead of it as it is then.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <absl/container/btree_map.h>

#include "base/memory_budget.h"
#include "observe/mutex.h"
#include "storage/engine.h"
#include "storage/record/table_def.h"
#include "storage/write_set.h"

namespace commitd::storage {

class MemoryTables {
 public:
  // Recovery is over: from here on what is committed is kept. Tables with smaller ids than `next_table_id`
  // have lost the rows they had; `any` says whether there are such tables.
  void start(uint64_t next_table_id, bool any);
  bool any_lost_rows() const { return any_lost_; }
  // The table was there before this process, and its rows ended with the one before.
  bool lost_rows(const TableDef& table) const;

  bool get(std::string_view key, std::string& value) const;
  std::unique_ptr<Iterator> iterate(std::string lower, std::string upper) const;

  // Row ids must be final. Never refused: what a commit brings is in the log.
  void apply(const WriteSet& writes);
  // 1114 when the table, or the server's memory budget, has no room for so many bytes more.
  Status check_room(const TableDef& table, uint64_t bytes, uint64_t table_limit);

 private:
  class Scan;
  using Entries = absl::btree_map<std::string, std::string, std::less<>>;

  // For callers that hold `mutex_`.
  void put(std::string_view key, std::string_view value);
  void erase(std::string_view key);
  void erase_range(std::string_view begin, std::string_view end);
  void account(Entries::const_iterator entry, bool added);
  void give_back_memory();

  mutable observe::SharedMutex mutex_{"wait/synch/rwlock/commitd/memory_tables"};
  Entries entries_;
  std::unordered_map<uint32_t, uint64_t> bytes_;  // by index id
  uint64_t all_bytes_ = 0;
  MemoryReservation reserved_{MemoryUse::Rows};
  std::atomic<uint64_t> first_new_table_{0};  // 0: recovery is under way
  std::atomic<bool> any_lost_{false};
};

}  // namespace commitd::storage
