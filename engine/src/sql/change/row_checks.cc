#include "sql/change/row_checks.h"

#include "base/error_codes.h"
#include "sql/ast/session_statements.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operators.h"
#include "sql/parser/parser.h"

namespace commitd::sql {

Status RowChecks::bind(SessionState& session, TablePtr table) {
  session_ = &session;
  table_ = std::move(table);
  bound_.clear();
  if (table_->checks.empty()) return {};
  arena_ = std::make_unique<Arena>();
  texts_.reserve(table_->checks.size());
  Scope scope;
  scope.sources.push_back(Source::of_table(table_, {}));
  const Precomputed nothing;
  for (const CheckDef& check : table_->checks) {
    if (!check.enforced) continue;
    texts_.push_back("DO " + check.expression);
    auto parsed = parse_statement(texts_.back(), *arena_, {});
    if (!parsed.ok()) return std::move(parsed).error();
    Binder binder(session, scope, {}, nothing);
    auto condition =
        binder.bind(*ast::as<ast::DoStatement>(*parsed->statement).expressions[0], "check constraint");
    if (!condition.ok()) return std::move(condition).error();
    bound_.push_back({&check, *std::move(condition)});
  }
  return {};
}

Status RowChecks::verify(std::span<const Value> row) const {
  if (bound_.empty()) return {};
  Evaluation evaluation(*session_);
  evaluation.rows.assign(1, row.data());
  for (const Bound& check : bound_) {
    Value scratch;
    const Value& holds = check.condition->evaluate(evaluation, scratch);
    COMMITD_RETURN_IF_ERROR(evaluation.status());
    if (!holds.is_null() && !is_true(holds))
      return make_error(er::kCheckConstraintViolated, "Check constraint '{}' is violated.",
                        check.definition->name);
  }
  return {};
}

}  // namespace commitd::sql
