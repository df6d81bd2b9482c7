// What the keys of the lock table stand for: tables, rows and keys of indexes by name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sql/session_state.h"
#include "storage/record/table_def.h"

namespace commitd::sql {

struct LockedObject {
  std::string schema, table;
  std::string index;  // empty for a table's own lock
  std::string data;   // the key's values as far as they can be read back from it; hexadecimal otherwise
  bool is_table() const { return index.empty(); }
};

// As the catalog is when this is made.
class LockedObjects {
 public:
  explicit LockedObjects(const SessionState& session);
  // nullopt for what users do not see (the lock around definitions).
  std::optional<LockedObject> find(std::string_view lock_key) const;

 private:
  struct Index {
    TablePtr table;
    const IndexDef* definition;
  };
  std::map<uint32_t, Index> indexes_;
};

}  // namespace commitd::sql
