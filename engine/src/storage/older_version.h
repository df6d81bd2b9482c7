// Which entries of a write set leave garbage: those whose key was in the engine before the transaction. The
// mark is in the table's id, which entries with a final row id do not need otherwise.
#pragma once

#include "storage/write_set.h"

namespace commitd::storage {

inline constexpr uint64_t kHasOlderVersion = uint64_t{1} << 63;

inline bool may_be_marked(const WriteSet::Entry& entry) {
  return entry.row_id == WriteSet::RowId::Final;
}
inline bool has_older_version(const WriteSet::Entry& entry) {
  return may_be_marked(entry) && (entry.table_id & kHasOlderVersion) != 0;
}
// As `earlier`, an entry of the same transaction for the same key.
inline void mark_as(const WriteSet::Entry& earlier, WriteSet::Entry& entry) {
  if (!may_be_marked(entry)) return;
  entry.table_id &= ~kHasOlderVersion;
  if (has_older_version(earlier)) entry.table_id |= kHasOlderVersion;
}

}  // namespace commitd::storage
