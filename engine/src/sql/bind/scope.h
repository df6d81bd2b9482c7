// The tables of one FROM clause, as names resolve in them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sql/expression/expression.h"
#include "sql/result_sink.h"
#include "storage/record/row_image.h"

namespace commitd::sql {

struct SourceColumn {
  std::string name;
  ValueType type;
  const ColumnDef* definition = nullptr;  // nullptr: of a derived table, but for columns with labels
  std::shared_ptr<const ColumnDef> kept = nullptr;  // the definition, where the table is not
};

struct Source {
  std::string db, table, alias;
  TablePtr definition;                           // a table of the engine, or a virtual one
  std::shared_ptr<const std::vector<Row>> rows;  // derived and virtual tables
  std::vector<SourceColumn> columns;
  // Columns that JOIN … USING makes one with those of an earlier table, whose number stands beside them.
  std::vector<std::pair<std::string, size_t>> merged;

  static Source of_table(TablePtr table, std::string_view alias);
};

class Scope {
 public:
  std::vector<Source> sources;
  // Names are looked for in these alone: the ON of a join sees the tables that it joins.
  size_t first = 0, behind_last = SIZE_MAX;

  struct Address {
    size_t source = 0, column = 0;
  };
  // Errors 1054 and 1052; `clause` is named in the message.
  Result<Address> find(std::string_view db, std::string_view table, std::string_view column,
                       std::string_view clause) const;
  bool has_source(std::string_view db, std::string_view table) const;
  static bool matches(const Source& source, std::string_view db, std::string_view table);

 private:
  bool is_merged(const Source& source, std::string_view column) const;
};

bool same_name(std::string_view left, std::string_view right);  // without case (ASCII)

// Characters that a number or a time has beside what its type's length counts: sign, point, fraction.
uint32_t more_than_digits(const ValueType& type);

// What the client is told about a result column.
ResultColumn describe_column(const Expression& expression, const Scope& scope, std::string name);

}  // namespace commitd::sql
