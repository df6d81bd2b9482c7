#include "sql/parser/grammar.h"

namespace commitd::sql {

ast::SelectStatement* Grammar::select() {
  if (is(Word::With)) unsupported("WITH (common table expressions)");
  ast::SelectStatement* first = select_term();
  if (!is(Word::Union)) {
    order_and_limit(*first);
    return first;
  }
  auto* whole = node<ast::SelectStatement>();
  whole->union_parts = arena_.make<ast::List<ast::SelectStatement::UnionPart>>(arena_.resource());
  whole->union_parts->push_back({first, true});
  while (accept(Word::Union)) {
    const bool all = accept(Word::All);
    if (!all) accept(Word::Distinct);
    whole->union_parts->push_back({select_term(), all});
  }
  order_and_limit(*whole);
  return whole;
}

ast::SelectStatement* Grammar::select_term() {
  if (!accept('(')) return select_core();
  ast::SelectStatement* inner = select();
  expect(')');
  return inner;
}

ast::SelectStatement* Grammar::select_core() {
  auto* select = node<ast::SelectStatement>();
  expect(Word::Select);
  for (bool more = true; more;) {
    if (accept(Word::Distinct) || accept(Word::DistinctRow)) {
      select->distinct = true;
    } else if (accept(Word::SqlCalcFoundRows)) {
      select->calc_found_rows = true;
    } else {
      more = accept(Word::All) || accept(Word::SqlNoCache) || accept(Word::SqlCache) ||
             accept(Word::HighPriority) || accept(Word::StraightJoin) || accept(Word::SqlBigResult) ||
             accept(Word::SqlSmallResult);
    }
  }
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
      if (!accept(Word::Asc)) accept(Word::Desc);
    } while (accept(','));
    if (is(Word::With)) unsupported("WITH ROLLUP");
  }
  if (accept(Word::Having)) select->having = expression();
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
  if (allow_string && peek().kind == TokenKind::String) return string_literal();
  if (as || at_identifier()) return identifier();
  return {};
}

void Grammar::from_clause(ast::List<ast::TableRef>& from) {
  from.push_back(table_factor(from));
  for (;;) {
    ast::JoinKind kind = ast::JoinKind::Inner;
    if (accept(',')) {
      from.push_back(table_factor(from));
      continue;
    }
    if (is(Word::Natural)) unsupported("NATURAL JOIN");
    if (is(Word::Right)) unsupported("RIGHT JOIN: write the LEFT JOIN with the tables swapped");
    if (accept(Word::Left)) {
      accept(Word::Outer);
      kind = ast::JoinKind::Left;
      expect(Word::Join);
    } else if (accept(Word::Inner) || accept(Word::Cross)) {
      expect(Word::Join);
    } else if (!accept(Word::Join) && !accept(Word::StraightJoin)) {
      return;
    }
    ast::TableRef right = table_factor(from);
    right.join = kind;
    if (accept(Word::On)) {
      right.on = expression();
    } else if (accept(Word::Using)) {
      right.using_columns = arena_.make<ast::List<std::string_view>>(arena_.resource());
      expect('(');
      do {
        right.using_columns->push_back(identifier());
      } while (accept(','));
      expect(')');
    } else if (kind == ast::JoinKind::Left) {
      fail();
    }
    from.push_back(right);
  }
}

ast::TableRef Grammar::table_factor(ast::List<ast::TableRef>& from) {
  ast::TableRef ref;
  if (accept('(')) {
    if (is(Word::Select) || is('(')) {
      ref.derived = select();
      expect(')');
      ref.alias = optional_alias(false);
      if (ref.alias.empty()) fail(Error{1248, "Every derived table must have its own alias"});
      return ref;
    }
    // A parenthesised list at the very beginning means the same without parentheses.
    if (!from.empty()) unsupported("nested joins in parentheses");
    from_clause(from);
    expect(')');
    if (from.empty()) return ref;
    ref = from.back();
    from.pop_back();
    return ref;
  }
  ref.name = table_name();
  ref.alias = optional_alias(false);
  while (is(Word::Use) || is(Word::Force) ||
         is(Word::Ignore)) {  // index hints: accepted, the planner decides
    advance();
    if (!accept(Word::Index)) expect(Word::Key);
    if (accept(Word::For)) {
      while (accept(Word::Order) || accept(Word::Group) || accept(Word::By) || accept(Word::Join)) {
      }
    }
    expect('(');
    while (!is(')') && !failed()) advance();
    expect(')');
  }
  return ref;
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
    if (is(Word::NoWait) || is(Word::Skip)) unsupported("NOWAIT and SKIP LOCKED");
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
