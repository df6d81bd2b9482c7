// The tables of one FROM clause, as names resolve in them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
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
  std::vector<std::string> merged;  // columns that JOIN … USING makes one with those of an earlier table

  bool merges(std::string_view column) const;
  static Source of_table(TablePtr table, std::string_view alias);
};

class Scope {
 public:
  std::vector<Source> sources;

  struct Address {
    size_t source = 0, column = 0;
  };
  // Errors 1054 and 1052; `clause` is named in the message.
  Result<Address> find(std::string_view db, std::string_view table, std::string_view column,
                       std::string_view clause) const;
  bool has_source(std::string_view db, std::string_view table) const;
  static bool matches(const Source& source, std::string_view db, std::string_view table);
};

bool same_name(std::string_view left, std::string_view right);  // without case (ASCII)

// Characters that a number or a time has beside what its type's length counts: sign, point, fraction.
uint32_t more_than_digits(const ValueType& type);

// What the client is told about a result column.
ResultColumn describe_column(const Expression& expression, const Scope& scope, std::string name);

}  // namespace commitd::sql
