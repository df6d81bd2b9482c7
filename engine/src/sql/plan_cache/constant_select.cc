#include "sql/plan_cache/constant_select.h"

#include <algorithm>

#include "sql/executor/statement_frame.h"
#include "sql/executor/statement_meter.h"
#include "sql/expression/conversion.h"
#include "sql/parser/parser.h"
#include "sql/plan_cache/cached_plan.h"
#include "sql/plan_cache/cached_shapes.h"
#include "sql/query/bound_select.h"
#include "sql/query/from_clause.h"

namespace commitd::sql {
namespace {

constexpr size_t kLongestText = 256;

bool is_constant(const ast::Statement& statement) {
  if (statement.kind != ast::StatementKind::Select) return false;
  const auto& select = ast::as<ast::SelectStatement>(statement);
  return select.from.empty() && select.union_parts == nullptr && select.with == nullptr && !select.distinct &&
         !select.calc_found_rows && select.where == nullptr && select.group_by.empty() &&
         select.having == nullptr && select.order_by.empty() && select.limit == nullptr &&
         select.offset == nullptr && select.lock == ast::RowLock::None &&
         std::all_of(select.items.begin(), select.items.end(),
                     [](const ast::SelectItem& item) { return is_literal(*item.expression); });
}

}  // namespace

ConstantSelect::Basis ConstantSelect::basis_of(const SessionSettings& settings) {
  return {settings.sql_mode, settings.connection_collation, settings.client_collation};
}

std::unique_ptr<ConstantSelect> ConstantSelect::of(SessionState& session, std::string_view text,
                                                   const LexerOptions& options) {
  std::unique_ptr<ConstantSelect> made(new ConstantSelect(text, session.settings));
  const auto parsed = parse_statement(made->text_, made->arena_, options);
  if (!parsed.ok() || !parsed->rest.empty() || !is_constant(*parsed->statement)) return nullptr;
  made->statement_ = &ast::as<ast::SelectStatement>(*parsed->statement);
  return made->evaluate(session) ? std::move(made) : nullptr;
}

bool ConstantSelect::evaluate(SessionState& session) {
  session.diagnostics.clear();
  StatementContext context{session, {}, {}};
  const auto bound = bind_select(context, *statement_, FromClause());
  if (!bound.ok()) return false;
  columns_.columns = (*bound)->columns;
  Evaluation evaluation = context.evaluation();
  Value scratch;
  for (const ExpressionPtr& item : (*bound)->items) {
    row_.push_back(item->evaluate(evaluation, scratch));
    conform_digits(row_.back(), item->type());
  }
  return evaluation.status().ok() && session.diagnostics.count() == 0;
}

bool ConstantSelect::is_made_of(std::string_view text, const SessionSettings& settings) const {
  return text == text_ && basis_of(settings) == basis_;
}

void ConstantSelect::answer(SessionState& session, ResultSink& sink) {
  note_statement(session, *statement_);
  const StatementMeter meter(session, *statement_, sink);
  count_statement(session, *statement_);
  CachedPlan::count_reuse();
  begin_kept_rows(sink, columns_);
  const bool shown = session.settings.select_limit > 0;
  if (shown) sink.send_row(row_);
  session.found_rows = shown ? 1 : 0;
  if (tells_of_statements(session)) tell_of_statement(session, *statement_, false);
  Answer rows{true, {}};
  end_statement(session, *statement_, rows, sink, false);
}

ConstantSelects& ConstantSelects::of_this_thread() {
  static thread_local ConstantSelects selects;
  return selects;
}

ConstantSelect* ConstantSelects::find(SessionState& session, std::string_view text) const {
  if (text.size() > kLongestText) return nullptr;
  if (session.transaction && session.transaction->depends_on_unacknowledged()) return nullptr;
  for (const auto& kept : kept_) {
    if (kept != nullptr && kept->is_made_of(text, session.settings)) return kept.get();
  }
  return nullptr;
}

void ConstantSelects::keep(SessionState& session, std::string_view text, const ast::Statement& parsed,
                           const LexerOptions& options) {
  if (text.size() > kLongestText || !is_constant(parsed)) return;
  auto made = ConstantSelect::of(session, text, options);
  if (made == nullptr) return;
  kept_[next_] = std::move(made);
  next_ = (next_ + 1) % kept_.size();
}

}  // namespace commitd::sql
