// A row of values: one that is written, or that of a subquery.
#pragma once

#include <memory>

#include "sql/bind/binder.h"

namespace commitd::sql {

// One side of a comparison.
struct RowSide {
  size_t width = 1;
  const ast::Expr* written = nullptr;            // an ExprKind::Row
  const SubqueryResult* known = nullptr;         // of a subquery that has been read
  std::shared_ptr<const RowSource> source = {};  // of one that is read for each row around it
};

}  // namespace commitd::sql
