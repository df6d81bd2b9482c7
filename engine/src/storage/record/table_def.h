// What a table is: columns, indexes, identity. Immutable once published by the catalog; shared by everybody
// who uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/value.h"

namespace commitd {

struct ColumnDef {
  std::string name;
  FieldType type = FieldType::Long;
  uint32_t length =
      0;  // display width, characters of CHAR/VARCHAR, precision of DECIMAL, bytes of BLOB class
  uint8_t decimals = 0;     // scale of DECIMAL, fractional seconds of temporal types
  uint16_t collation = 63;  // MySQL's collation number (63 = binary, 45 = utf8mb4_general_ci, 46 =
                            // utf8mb4_bin, 33 = utf8mb3_general_ci, 8/47 = latin1)
  bool is_unsigned = false;
  bool nullable = true;
  bool auto_increment = false;
  bool default_current_timestamp = false;
  bool on_update_current_timestamp = false;
  std::optional<Value> default_value;  // set but NULL = DEFAULT NULL; not set = no default
  std::vector<std::string> labels;     // ENUM and SET members
  // Instant ADD COLUMN appends a column; rows written under an older table version have `fill_value` in it.
  uint32_t added_in_version = 1;
  Value fill_value;
  std::string comment;
};

// `decimals` of a FLOAT or DOUBLE that shows as many digits as it needs.
inline constexpr uint8_t kNoFixedDecimals = 31;

// FLOAT(M,D) and DOUBLE(M,D).
inline bool has_fixed_decimals(const ColumnDef& column) {
  return (column.type == FieldType::Float || column.type == FieldType::Double) && column.length != 0 &&
         column.decimals < kNoFixedDecimals;
}

struct IndexColumn {
  uint16_t column = 0;         // ordinal in TableDef::columns
  uint32_t prefix_length = 0;  // characters; 0 = whole column
  bool descending = false;     // as it was declared: entries are stored ascending, and read either way
};

struct IndexDef {
  uint32_t id = 0;  // unique over all tables, never reused: the first four bytes (big-endian) of every key of
                    // this index
  std::string name;  // "PRIMARY" for the primary key
  std::vector<IndexColumn> columns;
  bool unique = false;
  bool primary = false;
  std::string comment;
};

struct CheckDef {
  std::string name;
  std::string expression;  // SQL in the default sql_mode, without parentheses around it
  bool enforced = true;
};

struct TableDef {
  uint64_t id = 0;  // never reused
  uint32_t version =
      1;  // grows with every ALTER; each stored row starts with the version it was written under
  std::string db;
  std::string name;
  std::string engine = "ROCKS";
  uint16_t default_collation = 45;
  std::string comment;
  std::string connection;  // CONNECTION=: where the rows of a FEDERATED table are
  std::vector<ColumnDef> columns;
  // indexes[0] is the clustered one: the primary key, or for a table without one a hidden index on an 8-byte
  // row id.
  std::vector<IndexDef> indexes;
  std::vector<CheckDef> checks;

  bool has_primary_key() const { return indexes[0].primary; }
  const IndexDef& clustered() const { return indexes[0]; }
};

using TablePtr = std::shared_ptr<const TableDef>;

}  // namespace commitd
