#include "sql/ast/changes.h"
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
  if (is(Word::Partition)) unsupported("PARTITION");
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
    insert->select = outermost_select();
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
  from_clause(update->from);
  expect(Word::Set);
  assignments(update->assignments);
  if (accept(Word::Where)) update->where = expression();
  order_by(update->order_by);
  if (accept(Word::Limit)) update->limit = primary();
  return update;
}

// A table that DELETE names: name, name.* or db.name.*
ast::TableName Grammar::delete_target() {
  const std::string_view first = identifier();
  if (!accept('.') || accept('*')) return {{}, first};
  const std::string_view second = identifier();
  if (accept('.')) expect('*');
  return {first, second};
}

ast::Statement* Grammar::remove() {
  auto* remove = node<ast::DeleteStatement>();
  advance();
  while (accept(Word::LowPriority) || accept(Word::Quick)) {
  }
  remove->ignore = accept(Word::Ignore);
  const bool from_first = accept(Word::From);
  do {
    remove->targets.push_back(delete_target());
  } while (accept(','));
  if (from_first ? accept(Word::Using) : accept(Word::From)) {
    from_clause(remove->from);
    if (accept(Word::Where)) remove->where = expression();
    return remove;
  }
  if (!from_first || remove->targets.size() != 1) fail();
  ast::TableRef table;
  table.name = remove->targets.front();
  table.alias = optional_alias(false);
  remove->targets.clear();
  remove->from.push_back(table);
  if (accept(Word::Where)) remove->where = expression();
  order_by(remove->order_by);
  if (accept(Word::Limit)) remove->limit = primary();
  return remove;
}

}  // namespace commitd::sql
