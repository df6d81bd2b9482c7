// Where a definition change puts the entries of its new indexes: into unnamed indexes of the engine, a part
// at a time, or, for tables in memory, into what the change commits.
#pragma once

#include <string_view>
#include <vector>

#include "base/memory_budget.h"
#include "storage/engine.h"
#include "storage/record/table_def.h"

namespace commitd::sql::ddl {

class NewEntries {
 public:
  // `writes`: of the change, which it outlives.
  NewEntries(storage::Engine& engine, const TableDef& old_table, WriteSet& writes);
  ~NewEntries();
  NewEntries(const NewEntries&) = delete;

  Status begin(const TableDef& table, const IndexDef& index);
  // What begins next goes in here. Row ids are final where there is no change that makes them so.
  WriteSet& into() { return unnamed_ != nullptr ? part_ : writes_; }
  uint64_t new_row_id(uint64_t table_id);
  Result<bool> contains(std::string_view key);
  Status row_done();
  Status flush();
  // The change is complete: from its commit on the indexes have names.
  void name();

 private:
  static constexpr size_t kPart = 1 << 20;

  storage::Engine& engine_;
  WriteSet& writes_;
  storage::UnnamedIndexes* unnamed_;  // null: everything into writes_
  MemoryReservation memory_{MemoryUse::Transactions};
  WriteSet part_ = WriteSet::without_undo();
  std::vector<uint32_t> begun_;
};

}  // namespace commitd::sql::ddl
