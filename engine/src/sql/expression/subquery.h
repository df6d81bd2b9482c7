// Subqueries as expressions: over rows that are known, or that are read anew for every row around them.
#pragma once

#include <memory>
#include <vector>

#include "sql/ast/expression.h"
#include "sql/expression/expression.h"
#include "storage/record/row_image.h"

namespace commitd::sql {

class RowSource {
 public:
  virtual ~RowSource() = default;
  // False: an error, which `evaluation` has.
  virtual bool read(Evaluation& evaluation, std::vector<Row>& rows) const = 0;

  std::vector<ValueType> types;
  std::vector<const ColumnDef*> labels;  // nullptr: of no ENUM or SET column
  uint64_t sources = 0;                  // of the statement around it, whose columns it reads
  bool has_aggregate = false;            // it reads aggregate functions of that statement
};
using RowSourcePtr = std::unique_ptr<RowSource>;

// The item of its only row; NULL when there is none. Of several rows, too, with a warning, where these are
// NULL (else 1242).
ExpressionPtr make_scalar_subquery(std::shared_ptr<const RowSource> rows, bool several_are_null,
                                   size_t item = 0);
Error several_rows();  // 1242
ExpressionPtr make_exists(RowSourcePtr rows);
// (operands) op ANY or ALL (rows). IN is = ANY; NOT IN its negation.
ExpressionPtr make_quantified(ast::Op op, bool all, Expressions operands, RowSourcePtr rows);

}  // namespace commitd::sql
