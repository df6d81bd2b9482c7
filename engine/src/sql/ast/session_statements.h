// Syntax trees of what concerns a session: its transaction, its variables, its prepared statements.
#pragma once

#include <optional>

#include "sql/ast/expression.h"
#include "sql/ast/statement.h"

namespace commitd::sql::ast {

struct BeginStatement : Statement {
  BeginStatement() : Statement(StatementKind::Begin) {}
  std::optional<bool> read_only;
  bool consistent_snapshot = false;
};
struct NameStatement : Statement {  // SAVEPOINT and what belongs to it, DEALLOCATE PREPARE
  using Statement::Statement;
  std::string_view name;
};
struct SetItem {
  enum class What : uint8_t { SystemVariable, UserVariable, Names, CharacterSet } what = What::SystemVariable;
  VariableScope scope = VariableScope::Unspecified;
  std::string_view name;
  Expr* value = nullptr;       // null pointer = DEFAULT
  std::string_view collation;  // SET NAMES … COLLATE
};
struct SetStatement : Statement {
  explicit SetStatement(std::pmr::memory_resource* memory) : Statement(StatementKind::Set), items(memory) {}
  List<SetItem> items;
};
struct ResetPersistStatement : Statement {
  ResetPersistStatement() : Statement(StatementKind::ResetPersist) {}
  std::string_view name;  // empty = all
  bool if_exists = false;
};
struct SetTransactionStatement : Statement {
  SetTransactionStatement() : Statement(StatementKind::SetTransaction) {}
  VariableScope scope = VariableScope::Unspecified;
  std::string_view isolation;  // as the variable spells it (READ-COMMITTED …), empty = not given
  std::optional<bool> read_only;
};

struct PrepareStatement : Statement {
  PrepareStatement() : Statement(StatementKind::Prepare) {}
  std::string_view name;
  std::string_view source;
  std::string_view source_variable;
};
struct ExecuteStatement : Statement {
  explicit ExecuteStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::Execute), variables(memory) {}
  std::string_view name;
  List<std::string_view> variables;
};
struct DoStatement : Statement {
  explicit DoStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::Do), expressions(memory) {}
  List<Expr*> expressions;
};

}  // namespace commitd::sql::ast
