#include "sql/parser/grammar.h"

namespace commitd::sql {

ast::Statement* Grammar::insert() {
  auto* insert = node<ast::InsertStatement>();
  insert->mode = is(Word::Replace) ? ast::InsertMode::Replace : ast::InsertMode::Insert;
  advance();
  while (accept(Word::LowPriority) || accept(Word::Delayed) || accept(Word::HighPriority)) {
  }
  insert->ignore = accept(Word::Ignore);
  accept(Word::Into);
  insert->table = table_name();
  if (is('(') && !next_is(Word::Select)) {
    advance();
    insert->has_columns = true;
    while (!is(')') && !failed()) {
      std::string_view column = identifier();
      if (accept('.')) column = identifier();
      insert->columns.push_back(column);
      if (!accept(',')) break;
    }
    expect(')');
  }
  if (accept(Word::Values) || accept(Word::Value)) {
    values_list(*insert);
  } else if (accept(Word::Set)) {
    ast::List<ast::Assignment> set(arena_.resource());
    assignments(set);
    auto* row = arena_.make<ast::List<ast::Expr*>>(arena_.resource());
    insert->has_columns = true;
    for (const ast::Assignment& assignment : set) {
      insert->columns.push_back(assignment.column->text);
      row->push_back(assignment.value);
    }
    insert->rows.push_back(row);
  } else {
    insert->select = select();
  }
  if (accept(Word::As)) insert->row_alias = identifier();
  if (accept(Word::On)) {
    expect(Word::Duplicate);
    expect(Word::Key);
    expect(Word::Update);
    assignments(insert->on_duplicate);
  }
  return insert;
}

void Grammar::values_list(ast::InsertStatement& insert) {
  do {
    accept(Word::Row);
    expect('(');
    auto* row = arena_.make<ast::List<ast::Expr*>>(arena_.resource());
    row->reserve(insert.rows.empty() ? insert.columns.size() : insert.rows.front()->size());
    while (!is(')') && !failed()) {
      row->push_back(expression());
      if (!accept(',')) break;
    }
    expect(')');
    insert.rows.push_back(row);
  } while (accept(','));
}

void Grammar::assignments(ast::List<ast::Assignment>& list) {
  do {
    ast::Assignment assignment;
    assignment.column = column_reference();
    if (!accept('=') && !accept(Symbol::Assign)) fail();
    assignment.value = expression();
    list.push_back(assignment);
  } while (accept(','));
}

ast::Statement* Grammar::update() {
  auto* update = node<ast::UpdateStatement>();
  advance();
  accept(Word::LowPriority);
  update->ignore = accept(Word::Ignore);
  ast::List<ast::TableRef> from(arena_.resource());
  from_clause(from);
  if (from.size() != 1 || from[0].derived || from[0].nested) unsupported("UPDATE of several tables");
  if (!from.empty()) update->table = from[0];
  expect(Word::Set);
  assignments(update->assignments);
  if (accept(Word::Where)) update->where = expression();
  order_by(update->order_by);
  if (accept(Word::Limit)) update->limit = primary();
  return update;
}

ast::Statement* Grammar::remove() {
  auto* remove = node<ast::DeleteStatement>();
  advance();
  while (accept(Word::LowPriority) || accept(Word::Quick)) {
  }
  remove->ignore = accept(Word::Ignore);
  if (!is(Word::From)) unsupported("DELETE of several tables");
  expect(Word::From);
  remove->table.name = table_name();
  if (is(Word::Using) || is(',')) unsupported("DELETE of several tables");
  remove->table.alias = optional_alias(false);
  if (accept(Word::Where)) remove->where = expression();
  order_by(remove->order_by);
  if (accept(Word::Limit)) remove->limit = primary();
  return remove;
}

}  // namespace commitd::sql
