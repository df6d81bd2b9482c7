// The tables of a FROM clause, opened: in the order in which they are joined, with what joins them.
#pragma once

#include <utility>
#include <vector>

#include "sql/ast/select.h"
#include "sql/executor/statement_context.h"

namespace commitd::sql {

// Tables first … last are the inner side of a LEFT JOIN: one row of NULLs when nothing in them matches.
struct JoinNest {
  size_t first = 0, last = 0;
  int parent = -1;  // the nest around it
};

struct JoinCondition {
  const ast::Expr* on = nullptr;
  std::vector<std::pair<Scope::Address, Scope::Address>> equal;  // USING, NATURAL
  int nest = -1;                      // whose ON it is; -1: holds for every row, as WHERE does
  size_t first = 0, behind_last = 0;  // the tables that it joins
};

struct FromClause {
  Scope scope;
  std::vector<JoinNest> nests;  // a nest comes before those in it
  std::vector<JoinCondition> conditions;
  std::vector<Scope::Address> star;  // the columns of SELECT *
  bool keeps_order = false;          // STRAIGHT_JOIN: tables are read as they are written
};

Task<Result<FromClause>> open_from(StatementContext& context, const ast::List<ast::TableRef>& from);

// A finished result as a table. `columns` (may be null) renames its columns.
Result<Source> source_of_result(std::string_view name, std::span<const ResultColumn> described,
                                std::vector<Row> rows, const ast::List<std::string_view>* columns);

}  // namespace commitd::sql
