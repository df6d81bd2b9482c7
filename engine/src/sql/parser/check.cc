// CHECK constraints, in CREATE TABLE and ALTER TABLE.
#include "sql/ast/definitions.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {

// [NOT] ENFORCED; false when neither stands here.
bool Grammar::accept_enforced(bool& enforced) {
  if (accept(Word::Not, Word::Enforced)) {
    enforced = false;
    return true;
  }
  if (!accept(Word::Enforced)) return false;
  enforced = true;
  return true;
}

// CHECK (expression) [[NOT] ENFORCED]; the caller has read CONSTRAINT and the name.
bool Grammar::check_definition(ast::CheckSpec& check) {
  if (!accept(Word::Check)) return false;
  expect('(');
  const char* begin = peek().begin;
  check.open_comments = open_comments();
  check.expression = expression();
  check.text = previous_end_to(begin);
  expect(')');
  accept_enforced(check.enforced);
  return true;
}

void Grammar::column_check(ast::ColumnSpec& column) {
  ast::CheckSpec check;
  if (accept(Word::Constraint) && at_identifier()) check.name = identifier();
  if (!check_definition(check)) return fail();
  if (column.checks == nullptr) column.checks = arena_.make<ast::List<ast::CheckSpec>>(arena_.resource());
  column.checks->push_back(check);
}

// ALTER {CHECK | CONSTRAINT} name [NOT] ENFORCED
void Grammar::alter_check(ast::AlterAction& action) {
  advance();
  action.what = ast::AlterAction::What::EnforceCheck;
  action.name = identifier();
  if (!accept_enforced(action.check.enforced)) fail();
}

}  // namespace commitd::sql
