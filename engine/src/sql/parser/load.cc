// LOAD DATA.
#include "sql/ast/changes.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {

// FIELDS and LINES clauses, in this order as MySQL wants them.
void Grammar::load_format(ast::LoadDataStatement& load) {
  if (accept(Word::Fields) || accept(Word::Columns)) {
    for (;;) {
      if (accept(Word::Terminated)) {
        expect(Word::By);
        load.fields_terminated = string_literal();
      } else if (is(Word::Optionally) || is(Word::Enclosed)) {
        load.optionally_enclosed = accept(Word::Optionally);
        expect(Word::Enclosed);
        expect(Word::By);
        load.enclosed = string_literal();
      } else if (accept(Word::Escaped)) {
        expect(Word::By);
        load.escaped = string_literal();
      } else {
        break;
      }
    }
  }
  if (accept(Word::Lines)) {
    for (;;) {
      if (accept(Word::Starting)) {
        expect(Word::By);
        load.lines_starting = string_literal();
      } else if (accept(Word::Terminated)) {
        expect(Word::By);
        load.lines_terminated = string_literal();
      } else {
        break;
      }
    }
  }
}

void Grammar::load_targets(ast::LoadDataStatement& load) {
  if (accept('(') && !accept(')')) {
    do {
      ast::Expr* target = nullptr;
      if (peek().kind == TokenKind::UserVariable) {
        target = make(ast::ExprKind::UserVariable);
        target->text = peek().text;
        advance();
      } else {
        target = column_reference();
      }
      load.targets.push_back(target);
    } while (accept(','));
    expect(')');
  }
  if (accept(Word::Set)) assignments(load.assignments);
}

ast::Statement* Grammar::load_data() {
  auto* load = node<ast::LoadDataStatement>();
  advance();
  if (!accept_plain("data")) unsupported("LOAD of this kind");
  if (!accept(Word::LowPriority)) accept_plain("concurrent");
  load->local = accept(Word::Local);
  expect(Word::Infile);
  load->file = string_literal();
  if (accept(Word::Replace))
    load->mode = ast::InsertMode::Replace;
  else
    load->ignore = accept(Word::Ignore);
  expect(Word::Into);
  expect(Word::Table);
  load->table = table_name();
  if (is(Word::Partition)) unsupported("PARTITION");
  std::string_view no_collation;
  if (is(Word::Charset) || is(Word::Character)) charset_option(load->charset, no_collation);
  load_format(*load);
  if (accept(Word::Ignore)) {
    load->ignored_lines = unsigned_number();
    if (!accept(Word::Lines)) expect(Word::Rows);
  }
  load_targets(*load);
  return load;
}

}  // namespace commitd::sql
