// Which expressions a kept plan may have: those whose binding reads nothing of a parameter but its kind.
#pragma once

#include "sql/ast/select.h"

namespace commitd::sql {

bool is_literal(const ast::Expr& tree);
// A column, a parameter, a literal.
bool is_operand(const ast::Expr* tree);
// Comparisons of operands, and what connects them.
bool is_condition(const ast::Expr& tree);
// Exactly one table, by its name.
bool is_one_table(const ast::List<ast::TableRef>& from);

}  // namespace commitd::sql
