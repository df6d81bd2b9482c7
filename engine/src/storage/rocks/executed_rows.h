// gtid_executed beside the data: a row for each interval, under its UUID and first number. A batch changes
// the rows that it touches, so a commit costs the same however many gaps there are.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "base/result.h"
#include "gtid/gtid_set.h"

namespace commitd::storage {

// `added` joins `executed`, whose rows are there.
void add_executed(rocksdb::WriteBatch& batch, const GtidSet& executed, const GtidSet& added);
// The rows become those of `executed`, whatever there is.
void replace_executed(rocksdb::WriteBatch& batch, const GtidSet& executed);
Result<GtidSet> load_executed(rocksdb::DB& db);

}  // namespace commitd::storage
