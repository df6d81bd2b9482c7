// Conditions and values made up at random over the tables of a FROM clause.
#pragma once

#include <string>
#include <vector>

#include "choices.h"
#include "schema.h"
#include "sql_text.h"

namespace commitd::fuzz {

// A table as FROM names it.
struct Named {
  std::string alias;
  const Table* table = nullptr;
};

class Expressions {
 public:
  Expressions(const std::vector<Table>& schema, Choices& choices) : schema_(schema), choices_(choices) {}

  SqlText condition(const std::vector<Named>& from, size_t depth = 3);
  SqlText value(const std::vector<Named>& from, Kind kind, size_t depth = 2);
  // How columns of two tables may be compared in ON.
  SqlText join_condition(const std::vector<Named>& from, const Named& right);

 private:
  struct Place {
    const Named* named;
    const Column* column;
    std::string text() const { return named->alias + "." + column->name; }
  };
  Place column(const std::vector<Named>& from);
  Place column_like(const std::vector<Named>& from, Kind kind);
  std::string comparison();
  SqlText literal(Kind kind);
  SqlText list(Kind kind);
  SqlText about_column(const std::vector<Named>& from);
  SqlText about_row(const std::vector<Named>& from);
  SqlText about_subquery(const std::vector<Named>& from, size_t depth);
  // `aggregate`: of which the subquery gives one value, where there is one.
  SqlText subquery(const std::vector<Named>& from, Kind kind, size_t depth, std::string_view aggregate = {});
  SqlText call(const std::vector<Named>& from, Kind kind, size_t depth);

  const std::vector<Table>& schema_;
  Choices& choices_;
  size_t subqueries_ = 0;
};

}  // namespace commitd::fuzz
