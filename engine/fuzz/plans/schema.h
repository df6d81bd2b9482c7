// Tables made up at random, with rows.
#pragma once

#include <string>
#include <vector>

#include "choices.h"

namespace commitd::fuzz {

// What the values of a column are like: literals near to them come from the same list.
enum class Kind : uint8_t {
  Integer,
  Decimal,
  Real,
  Text,
  Bytes,
  Date,
  DateTime,
  Time,
  Year,
  Enum,
  Set,
  Bit,
  Json
};

struct Column {
  std::string name;
  Kind kind = Kind::Integer;
  std::string type;  // with NOT NULL
  bool ignores_case = false;
  bool is_unique = false;  // has a part in a unique index

  // Groups, and DISTINCT, give one of several values that are equal: which one it is hangs on the plan.
  bool equal_is_same() const { return !ignores_case && kind != Kind::Real && kind != Kind::Json; }
};

struct Table {
  std::string name;
  std::vector<Column> columns;
  std::vector<std::string> indexes;
  std::vector<size_t> leading;    // columns that an index begins with
  std::string engine;             // MEMORY cannot hold all types
  std::vector<std::string> rows;  // VALUES of INSERT

  std::string definition(bool with_indexes) const;
};

std::vector<Table> make_schema(Choices& choices);

// A literal as such a column may have it, or nearly.
std::string literal_of(Kind kind, Choices& choices);

}  // namespace commitd::fuzz
