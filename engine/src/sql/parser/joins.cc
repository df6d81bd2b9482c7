// FROM: tables, joins, and either in parentheses.
#include <ranges>
#include <vector>

#include "base/error_codes.h"
#include "sql/ast/select.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {

// A join as it is written. Without sides `table` is a table; with them it has what joins the right one.
struct Grammar::Join {
  ast::TableRef table;
  Join* left = nullptr;
  Join* right = nullptr;
  bool exchanged = false;  // RIGHT JOIN

  bool is_table() const { return left == nullptr; }
  bool has_condition() const { return table.on != nullptr || table.using_columns != nullptr; }
};

void Grammar::from_clause(ast::List<ast::TableRef>& from) {
  table_list(from, table_factor());
}

void Grammar::table_list(ast::List<ast::TableRef>& from, ast::TableRef first) {
  for (bool more = true; more;) {
    ast::List<ast::TableRef> chain(arena_.resource());
    flatten(*joined_tables(first), chain);
    // USING, NATURAL and SELECT * look at their own side of the comma alone.
    if (from.empty() && !is(','))
      from.insert(from.end(), chain.begin(), chain.end());
    else
      from.push_back(nested(chain));
    more = accept(',');
    if (more) first = table_factor();
  }
}

Grammar::Join* Grammar::single(const ast::TableRef& table) {
  Join* join = arena_.make<Join>();
  join->table = table;
  return join;
}

Grammar::Join* Grammar::joined_tables(const ast::TableRef& first) {
  Join* all = single(first);
  while (Join* more = join_tail(all)) all = more;
  return all;
}

bool Grammar::join_words(Join& join) {
  join.table.natural = accept(Word::Natural);
  const bool left = accept(Word::Left);
  join.exchanged = !left && accept(Word::Right);
  if (left || join.exchanged) {
    join.table.join = ast::JoinKind::Left;
    accept(Word::Outer);
    expect(Word::Join);
  } else if (accept(Word::Inner) || (!join.table.natural && accept(Word::Cross))) {
    expect(Word::Join);
  } else if (!join.table.natural && accept(Word::StraightJoin)) {
    join.table.join = ast::JoinKind::Straight;
  } else if (!accept(Word::Join)) {
    if (join.table.natural) fail();
    return false;
  }
  return true;
}

// One JOIN behind `left`; null: there is none.
Grammar::Join* Grammar::join_tail(Join* left) {
  Join* join = arena_.make<Join>();
  if (!join_words(*join)) return nullptr;
  join->left = left;
  join->right = single(table_factor());
  if (!join->table.natural) {
    enter();
    // The first condition is that of the last join that has none.
    while (!is(Word::On) && !is(Word::Using)) {
      Join* more = join_tail(join->right);
      if (more == nullptr) break;
      join->right = more;
    }
    leave();
    join_condition(join->table, join->table.join == ast::JoinKind::Left);
  }
  if (failed()) return nullptr;
  return join->table.natural || join->has_condition() ? join : without_condition(join);
}

// t1 JOIN t2 LEFT JOIN t3 ON …: t1 and t2 are joined first.
Grammar::Join* Grammar::without_condition(Join* join) {
  if (join->right->is_table()) return join;
  Join* whole = join->right;
  Join* first = whole;
  while (!first->left->is_table()) first = first->left;
  join->right = first->left;
  first->left = join;
  return whole;
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

ast::TableRef Grammar::nested(const ast::List<ast::TableRef>& chain) {
  if (chain.size() == 1) return chain[0];
  ast::TableRef ref;
  ref.nested = arena_.make<ast::List<ast::TableRef>>(chain, arena_.resource());
  return ref;
}

// The left sides one after the other, for they may be many; the right ones are no deeper than the parser
// goes.
void Grammar::flatten(const Join& whole, ast::List<ast::TableRef>& chain) {
  std::vector<const Join*> joins;
  const Join* first = &whole;
  for (; !first->is_table(); first = first->left) joins.push_back(first);
  chain.push_back(first->table);
  for (const Join* join : std::views::reverse(joins)) {
    ast::List<ast::TableRef> right(arena_.resource());
    flatten(*join->right, right);
    ast::TableRef next = nested(right);
    if (join->exchanged) {
      const ast::TableRef first_read = next;
      next = nested(chain);
      chain.assign({first_read});
    }
    next.join = join->table.join;
    next.on = join->table.on;
    next.using_columns = join->table.using_columns;
    next.natural = join->table.natural;
    next.exchanged = join->exchanged;
    chain.push_back(next);
  }
}

ast::TableRef Grammar::table_factor() {
  ast::TableRef ref;
  refuse_absent_table();
  if (accept('(')) return named(table_in_parentheses());
  if (accept('{')) return odbc_outer_join();
  ref.name = table_name();
  if (is(Word::Partition) && peek_next().kind == TokenKind::Symbol) unsupported("PARTITION");
  ref.alias = optional_alias(false);
  index_hints(ref);
  return ref;
}

// Accepted: the planner decides. The indexes must be there all the same.
void Grammar::index_hints(ast::TableRef& ref) {
  bool use = false, force = false;
  while (!failed() && (is(Word::Use) || is(Word::Force) || is(Word::Ignore))) {
    const bool may_be_empty = is(Word::Use);
    use |= is(Word::Use);
    force |= is(Word::Force);
    if (use && force)
      return fail(make_error(er::kWrongUsage, "Incorrect usage of USE INDEX and FORCE INDEX"));
    advance();
    if (!accept(Word::Index)) expect(Word::Key);
    if (accept(Word::For)) {
      while (accept(Word::Order) || accept(Word::Group) || accept(Word::By) || accept(Word::Join)) {
      }
    }
    expect('(');
    if (may_be_empty && accept(')')) continue;
    if (ref.hinted == nullptr) ref.hinted = arena_.make<ast::List<std::string_view>>(arena_.resource());
    do {
      if (accept(Word::Primary))
        ref.hinted->push_back("PRIMARY");
      else
        ref.hinted->push_back(identifier());
    } while (accept(','));
    expect(')');
  }
}

// {oj t LEFT JOIN u ON …}
ast::TableRef Grammar::odbc_outer_join() {
  expect_plain("oj");
  enter();
  ast::List<ast::TableRef> chain(arena_.resource());
  flatten(*joined_tables(table_factor()), chain);
  leave();
  expect('}');
  return nested(chain);
}

// A SELECT in FROM has a name.
ast::TableRef Grammar::named(ast::TableRef ref) {
  if (ref.derived == nullptr || !ref.alias.empty()) return ref;
  ref.alias = optional_alias(false);
  if (ref.alias.empty())
    fail(Error{er::kDerivedMustHaveAlias, "Every derived table must have its own alias"});
  return ref;
}

// Behind an opening parenthesis: a join, or a SELECT that has no name yet.
ast::TableRef Grammar::table_in_parentheses() {
  enter();
  ast::TableRef inside;
  if (is(Word::Select) || is(Word::With)) {
    inside.derived = select();
  } else {
    inside = accept('(') ? table_in_parentheses() : table_factor();
    const bool is_select = inside.derived != nullptr && inside.alias.empty();
    if (is_select && (is(')') || goes_on_as_select())) {
      inside.derived = select_behind(inside.derived, true, nullptr);
    } else {
      ast::List<ast::TableRef> tables(arena_.resource());
      table_list(tables, named(inside));
      inside = nested(tables);
    }
  }
  leave();
  expect(')');
  return inside;
}

bool Grammar::goes_on_as_select() const {
  return is(Word::Union) || is(Word::Except) || is(Word::Order) || is(Word::Limit) || is(Word::For) ||
         is(Word::Lock) || is(Word::Into) || is_plain(peek(), "intersect");
}

}  // namespace commitd::sql
