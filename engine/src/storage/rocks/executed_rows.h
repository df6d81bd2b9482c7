// gtid_executed beside the data: a row for each interval, under its UUID and first number. A batch changes
// the rows that it touches, so a commit costs the same however many gaps there are. Or, as MySQL had it while
// nothing compressed them, a row for each transaction. Whoever wrote them: all rows together are the set.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "base/result.h"
#include "gtid/gtid_set.h"
#include "storage/engine.h"
#include "storage/gtid_storage.h"

namespace commitd::storage {

class ExecutedRows {
 public:
  explicit ExecutedRows(uint64_t rows_found);
  void keep_by(std::shared_ptr<const GtidSettings> settings) { settings_ = std::move(settings); }
  const std::shared_ptr<const GtidSettings>& settings() const { return settings_; }

  // What `step` brings, with so many transactions, joins `executed`, whose rows are there.
  void add(rocksdb::WriteBatch& batch, const GtidSet& executed, const CommitStep& step, size_t transactions);
  // The batch of the last add() is there, and this is the set now.
  void written(const GtidSet& executed);

 private:
  bool are_compressed(const GtidSet& executed) const { return rows_ == executed.interval_count(); }

  std::shared_ptr<const GtidSettings> settings_ = std::make_shared<GtidSettings>();
  uint64_t rows_;
  // Of the last add(): so many rows beside all others; none: there is one for each interval.
  std::optional<uint64_t> put_beside_;
  bool compresses_ = false;  // so does it
};

// The rows become those of `executed`, whatever there is.
void replace_executed(rocksdb::WriteBatch& batch, const GtidSet& executed);

struct FoundExecuted {
  GtidSet executed;
  uint64_t rows = 0;
};
Result<FoundExecuted> load_executed(rocksdb::DB& db);

}  // namespace commitd::storage
