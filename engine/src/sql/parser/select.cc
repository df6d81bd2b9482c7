#include <utility>

#include "base/error_codes.h"
#include "sql/ast/select.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {

// A SELECT that is a statement, or gives one its rows, and no subquery.
ast::SelectStatement* Grammar::outermost_select() {
  outermost_ = true;
  return select();
}

ast::SelectStatement* Grammar::select() {
  ast::List<ast::CommonTable>* with = nullptr;
  if (is(Word::With)) {
    const bool outermost = std::exchange(outermost_, false);
    with = arena_.make<ast::List<ast::CommonTable>>(arena_.resource());
    with_clause(*with);
    outermost_ = outermost;
  }
  const bool in_parentheses = is('(');
  ast::SelectStatement* first = select_term();
  return select_behind(first, in_parentheses, with);
}

// What follows the first SELECT: UNION, ORDER BY, LIMIT.
ast::SelectStatement* Grammar::select_behind(ast::SelectStatement* first, bool in_parentheses,
                                             ast::List<ast::CommonTable>* with) {
  refuse_absent_clause();
  if (!is(Word::Union)) {
    if (in_parentheses && (!first->order_by.empty() || first->limit != nullptr)) first = wrapped(first);
    order_and_limit(*first);
    if (with != nullptr && first->with != nullptr) unsupported("WITH before and inside parentheses");
    if (with != nullptr) first->with = with;
    return first;
  }
  auto* whole = node<ast::SelectStatement>();
  whole->with = with;
  whole->union_parts = arena_.make<ast::List<ast::SelectStatement::UnionPart>>(arena_.resource());
  whole->union_parts->push_back({first, true});
  while (accept(Word::Union)) {
    const bool all = accept(Word::All);
    if (!all) accept(Word::Distinct);
    whole->union_parts->push_back({select_term(), all});
    refuse_absent_clause();
  }
  order_and_limit(*whole);
  if (whole->lock != ast::RowLock::None) unsupported("FOR UPDATE or FOR SHARE behind a UNION");
  return whole;
}

// What stands behind the parentheses is done to what the SELECT inside of them gives.
ast::SelectStatement* Grammar::wrapped(ast::SelectStatement* inside) {
  const bool more = is(Word::Order) || is(Word::Limit);
  if (!more) return inside;
  auto* whole = node<ast::SelectStatement>();
  whole->union_parts = arena_.make<ast::List<ast::SelectStatement::UnionPart>>(arena_.resource());
  whole->union_parts->push_back({inside, true});
  return whole;
}

void Grammar::with_clause(ast::List<ast::CommonTable>& tables) {
  expect(Word::With);
  if (accept_plain("recursive")) unsupported("WITH RECURSIVE");
  do {
    ast::CommonTable table;
    table.name = identifier();
    if (accept('(')) {
      table.columns = arena_.make<ast::List<std::string_view>>(arena_.resource());
      do {
        table.columns->push_back(identifier());
      } while (accept(','));
      expect(')');
    }
    expect(Word::As);
    expect('(');
    enter();
    table.select = select();
    leave();
    expect(')');
    tables.push_back(table);
  } while (accept(','));
}

ast::SelectStatement* Grammar::select_term() {
  if (!accept('(')) return select_core();
  enter();
  ast::SelectStatement* inner = select();
  leave();
  expect(')');
  return inner;
}

// What is about the whole statement stands in its first SELECT only.
bool Grammar::accept_of_statement(Word word, std::string_view name, bool outermost) {
  if (!accept(word)) return false;
  if (!outermost) fail(make_error(er::kCantUseOptionHere, "Incorrect usage/placement of '{}'", name));
  return true;
}

void Grammar::select_options(ast::SelectStatement& select) {
  const bool outermost = std::exchange(outermost_, false);
  bool all = false;
  for (bool more = true; more;) {
    if (accept(Word::Distinct) || accept(Word::DistinctRow)) {
      select.distinct = true;
    } else if (accept(Word::All)) {
      all = true;
    } else if (accept_of_statement(Word::SqlCalcFoundRows, "SQL_CALC_FOUND_ROWS", outermost)) {
      select.calc_found_rows = true;
    } else if (accept(Word::StraightJoin)) {
      select.straight_join = true;
    } else {
      more = accept_of_statement(Word::HighPriority, "HIGH_PRIORITY", outermost) ||
             accept_of_statement(Word::SqlBufferResult, "SQL_BUFFER_RESULT", outermost) ||
             accept(Word::SqlNoCache) || accept(Word::SqlCache) || accept(Word::SqlBigResult) ||
             accept(Word::SqlSmallResult);
    }
  }
  if (all && select.distinct) fail(make_error(er::kWrongUsage, "Incorrect usage of ALL and DISTINCT"));
}

ast::SelectStatement* Grammar::select_core() {
  auto* select = node<ast::SelectStatement>();
  expect(Word::Select);
  select_options(*select);
  select_items(*select);
  if (is(Word::Into)) unsupported("SELECT … INTO");
  if (accept(Word::From)) {
    if (!accept(Word::Dual)) from_clause(select->from);
  }
  if (accept(Word::Where)) select->where = expression();
  if (accept(Word::Group)) {
    expect(Word::By);
    do {
      select->group_by.push_back(expression());
    } while (accept(','));
    if (is(Word::With)) unsupported("WITH ROLLUP");
  }
  if (accept(Word::Having)) select->having = expression();
  refuse_absent_clause();
  return select;
}

void Grammar::select_items(ast::SelectStatement& select) {
  do {
    ast::SelectItem item;
    if (is('*')) {
      item.expression = make(ast::ExprKind::Star);
      advance();
    } else {
      item.expression = expression();
      if (item.expression->kind != ast::ExprKind::Star) item.alias = optional_alias(true);
    }
    select.items.push_back(item);
  } while (accept(','));
}

std::string_view Grammar::optional_alias(bool allow_string) {
  const bool as = accept(Word::As);
  if (!as) refuse_absent_clause();
  if (allow_string && peek().kind == TokenKind::String) return string_literal();
  if (as || at_identifier()) return identifier();
  return {};
}

void Grammar::order_by(ast::List<ast::OrderItem>& order) {
  if (!accept(Word::Order)) return;
  expect(Word::By);
  do {
    ast::OrderItem item{expression(), false};
    if (!accept(Word::Asc)) item.descending = accept(Word::Desc);
    order.push_back(item);
  } while (accept(','));
}

void Grammar::limit(ast::Expr*& count, ast::Expr*& offset) {
  if (!accept(Word::Limit)) return;
  count = primary();
  if (accept(',')) {
    offset = count;
    count = primary();
  } else if (accept(Word::Offset)) {
    offset = primary();
  }
}

void Grammar::row_lock(ast::SelectStatement& select) {
  if (accept(Word::Lock)) {
    expect(Word::In);
    expect(Word::Share);
    expect(Word::Mode);
    select.lock = ast::RowLock::Share;
  } else if (accept(Word::For)) {
    select.lock = is(Word::Share) ? ast::RowLock::Share : ast::RowLock::Update;
    if (!accept(Word::Share)) expect(Word::Update);
    if (is(Word::Of)) unsupported("FOR UPDATE OF");
    if (accept(Word::NoWait)) {
      select.locked_rows = ast::LockedRows::NoWait;
    } else if (accept(Word::Skip)) {
      expect(Word::Locked);
      select.locked_rows = ast::LockedRows::Skip;
    }
  }
}

void Grammar::order_and_limit(ast::SelectStatement& select) {
  order_by(select.order_by);
  limit(select.limit, select.offset);
  if (is(Word::Procedure)) unsupported("PROCEDURE");
  if (is(Word::Into)) unsupported("SELECT … INTO");
  row_lock(select);
}

}  // namespace commitd::sql
