#include "sql/ddl/new_entries.h"

#include "base/error_codes.h"
#include "storage/table_engines.h"

namespace commitd::sql::ddl {

NewEntries::NewEntries(storage::Engine& engine, const TableDef& old_table, WriteSet& writes)
    : engine_(engine),
      writes_(writes),
      unnamed_(storage::engine_of(old_table).in_memory ? nullptr : engine.unnamed_indexes()) {}

// An error leaves them to the next start.
NewEntries::~NewEntries() {
  for (const uint32_t id : begun_) (void)unnamed_->erase(id);
}

Status NewEntries::begin(const TableDef& table, const IndexDef& index) {
  if (storage::engine_of(table).in_memory) unnamed_ = nullptr;
  if (unnamed_ == nullptr) return {};
  begun_.push_back(index.id);
  return unnamed_->begin(index.id);
}

// A new table's ids begin at 1. The change counts them all the same.
uint64_t NewEntries::new_row_id(uint64_t table_id) {
  const uint64_t provisional = writes_.new_provisional_row_id(table_id);
  return unnamed_ == nullptr ? provisional : (provisional & ~kProvisionalRowId) + 1;
}

Result<bool> NewEntries::contains(std::string_view key) {
  if (into().find(key) != nullptr) return true;
  if (unnamed_ == nullptr) return false;
  std::string value;
  return engine_.get(nullptr, key, value);
}

Status NewEntries::row_done() {
  if (unnamed_ != nullptr) return part_.byte_size() < kPart ? Status() : flush();
  if (memory_.cover(2 * writes_.byte_size())) return {};
  return make_error(er::kTransCacheFull,
                    "The definition change required more memory than the server has left of its "
                    "'commitd_memory_budget'");
}

Status NewEntries::flush() {
  if (unnamed_ == nullptr || part_.entries().empty()) return {};
  for (const auto& [table_id, next] : part_.auto_increments()) writes_.raise_auto_increment(table_id, next);
  Status filled = unnamed_->fill(part_);
  part_.clear();
  return filled;
}

void NewEntries::name() {
  for (const uint32_t id : begun_) writes_.erase(storage::unnamed_index_key(id));
  begun_.clear();
}

}  // namespace commitd::sql::ddl
