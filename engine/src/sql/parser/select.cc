#include "sql/ast/select.h"
#include "base/error_codes.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {

ast::SelectStatement* Grammar::select() {
  ast::List<ast::CommonTable>* with = nullptr;
  if (is(Word::With)) {
    with = arena_.make<ast::List<ast::CommonTable>>(arena_.resource());
    with_clause(*with);
  }
  const bool in_parentheses = is('(');
  ast::SelectStatement* first = select_term();
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

ast::SelectStatement* Grammar::select_core() {
  auto* select = node<ast::SelectStatement>();
  expect(Word::Select);
  for (bool more = true; more;) {
    if (accept(Word::Distinct) || accept(Word::DistinctRow)) {
      select->distinct = true;
    } else if (accept(Word::SqlCalcFoundRows)) {
      select->calc_found_rows = true;
    } else if (accept(Word::StraightJoin)) {
      select->straight_join = true;
    } else {
      more = accept(Word::All) || accept(Word::SqlNoCache) || accept(Word::SqlCache) ||
             accept(Word::HighPriority) || accept(Word::SqlBigResult) || accept(Word::SqlSmallResult);
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

void Grammar::from_clause(ast::List<ast::TableRef>& from) {
  do {
    ast::List<ast::TableRef> chain(arena_.resource());
    chain.push_back(table_factor());
    while (join_tail(chain)) {
    }
    // USING and NATURAL look at their own side of the comma alone.
    bool by_name = false;
    for (const ast::TableRef& ref : chain) by_name |= ref.natural || ref.using_columns != nullptr;
    if (!by_name || (from.empty() && !is(','))) {
      from.insert(from.end(), chain.begin(), chain.end());
      continue;
    }
    ast::TableRef whole;
    whole.nested = arena_.make<ast::List<ast::TableRef>>(chain, arena_.resource());
    from.push_back(whole);
  } while (accept(','));
}

// One JOIN behind the chain; false: there is none.
bool Grammar::join_tail(ast::List<ast::TableRef>& chain) {
  const bool natural = accept(Word::Natural);
  const bool left = accept(Word::Left);
  const bool right = !left && accept(Word::Right);
  bool straight = false;
  if (left || right) {
    accept(Word::Outer);
    expect(Word::Join);
  } else if (accept(Word::Inner) || (!natural && accept(Word::Cross))) {
    expect(Word::Join);
  } else if (!natural && accept(Word::StraightJoin)) {
    straight = true;
  } else if (!accept(Word::Join)) {
    if (natural) fail();
    return false;
  }
  ast::TableRef next = table_factor();
  next.natural = natural;
  if (!natural) join_condition(next, left || right);
  next.join = left || right ? ast::JoinKind::Left : straight ? ast::JoinKind::Straight : ast::JoinKind::Inner;
  if (!right) {
    chain.push_back(next);
    return !failed();
  }
  ast::TableRef other;
  if (chain.size() == 1)
    other = chain[0];
  else
    other.nested = arena_.make<ast::List<ast::TableRef>>(chain, arena_.resource());
  std::swap(other.on, next.on);
  std::swap(other.using_columns, next.using_columns);
  std::swap(other.natural, next.natural);
  other.join = ast::JoinKind::Left;
  next.join = ast::JoinKind::Inner;
  other.exchanged = true;
  chain.assign({next, other});
  return !failed();
}

void Grammar::join_condition(ast::TableRef& right, bool needed) {
  if (accept(Word::On)) {
    right.on = expression();
  } else if (accept(Word::Using)) {
    right.using_columns = arena_.make<ast::List<std::string_view>>(arena_.resource());
    expect('(');
    do {
      right.using_columns->push_back(identifier());
    } while (accept(','));
    expect(')');
  } else if (needed) {
    fail();
  }
}

ast::TableRef Grammar::table_factor() {
  ast::TableRef ref;
  refuse_absent_table();
  if (accept('(')) {
    if (is(Word::Select) || is('(') || is(Word::With)) {
      enter();
      ref.derived = select();
      leave();
      expect(')');
      ref.alias = optional_alias(false);
      if (ref.alias.empty())
        fail(Error{er::kDerivedMustHaveAlias, "Every derived table must have its own alias"});
      return ref;
    }
    auto* inside = arena_.make<ast::List<ast::TableRef>>(arena_.resource());
    enter();
    from_clause(*inside);
    leave();
    expect(')');
    if (inside->size() == 1) return inside->front();
    ref.nested = inside;
    return ref;
  }
  ref.name = table_name();
  if (is(Word::Partition) && peek_next().kind == TokenKind::Symbol) unsupported("PARTITION");
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
    if (is(Word::Of)) unsupported("FOR UPDATE OF");
    if (accept(Word::NoWait)) select.locked_rows = ast::LockedRows::NoWait;
    if (accept(Word::Skip)) {
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
