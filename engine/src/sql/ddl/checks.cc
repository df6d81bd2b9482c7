// CHECK constraints of a definition. Their expression is kept as text in the default sql_mode, so that it
// means the same to every session that reads it.
#include <algorithm>
#include <array>
#include <map>

#include "base/error_codes.h"
#include "base/text_case.h"
#include "sql/ast/definitions.h"
#include "sql/ast/session_statements.h"
#include "sql/ddl/planning.h"
#include "sql/parser/parser.h"
#include "sql/variables/system_variables.h"

namespace commitd::sql::ddl {
namespace {

std::string quoted(char quote, std::string_view text) {
  std::string out(1, quote);
  for (char c : text) {
    if (c == quote || (quote == '\'' && c == '\\')) out += c;
    out += c;
  }
  return out + quote;
}

std::string canonical(const Token& token, const LexerOptions& options) {
  if (options.real_as_float && token.word == Word::Real) return "FLOAT";
  switch (token.kind) {
    case TokenKind::QuotedIdentifier:
      return quoted('`', token.text);
    case TokenKind::String:
      return quoted('\'', token.text);
    default:
      return token.symbol == Symbol::Concat ? "," : std::string(token.begin, token.end);
  }
}

// What has to stand around parts of an expression's text for the default sql_mode to read them as the
// session's did.
struct Additions {
  std::map<const char*, std::string> in_front, behind;

  void around(std::string_view part, std::string_view opening) {
    in_front[part.data()].append(opening);
    behind[part.data() + part.size()] += ')';
  }
};

// a || b is CONCAT(a , b); NOT a = b is (NOT a) = b where NOT binds that strongly.
void add_around(const ast::Expr& tree, const LexerOptions& options, Additions& additions) {
  const auto& parts = tree.arguments;
  if (tree.kind == ast::ExprKind::Binary && tree.op == ast::Op::Concat) {
    const char* begin = parts[0]->source.data();
    const char* end = parts[1]->source.data() + parts[1]->source.size();
    additions.around({begin, static_cast<size_t>(end - begin)}, "CONCAT(");
  } else if (tree.kind == ast::ExprKind::Unary && tree.op == ast::Op::Not && options.high_not_precedence) {
    additions.around(tree.source, "(");
  }
  for (const ast::Expr* part : parts) {
    if (part != nullptr) add_around(*part, options, additions);
  }
}

// The expression as the default sql_mode reads it, and without comments.
std::string canonical(const ast::CheckSpec& check, uint64_t mode) {
  LexerOptions options = lexer_options(mode);
  options.open_comments = check.open_comments;
  options.logged = true;  // an earlier version may have cut the statement in a comment
  Additions additions;
  add_around(*check.expression, options, additions);
  Arena arena;
  Lexer lexer(check.text, arena, options);
  std::string out;
  const char* last_end = nullptr;
  for (Token token = lexer.next(); token.kind != TokenKind::End && token.kind != TokenKind::Invalid;
       token = lexer.next()) {
    if (last_end != nullptr && token.begin != last_end) out += ' ';
    last_end = token.end;
    if (const auto found = additions.in_front.find(token.begin); found != additions.in_front.end())
      out += found->second;
    out += canonical(token, options);
    if (const auto found = additions.behind.find(token.end); found != additions.behind.end())
      out += found->second;
  }
  return out;
}

// Functions whose value another moment, session or server would give differently.
bool is_nondeterministic(std::string_view name, bool has_arguments) {
  constexpr std::array<std::string_view, 31> kNames = {
      "NOW",      "CURRENT_TIMESTAMP", "LOCALTIME",      "LOCALTIMESTAMP", "SYSDATE",
      "CURDATE",  "CURRENT_DATE",      "CURTIME",        "CURRENT_TIME",   "UTC_DATE",
      "UTC_TIME", "UTC_TIMESTAMP",     "RAND",           "UUID",           "UUID_SHORT",
      "USER",     "CURRENT_USER",      "SESSION_USER",   "SYSTEM_USER",    "DATABASE",
      "SCHEMA",   "CONNECTION_ID",     "LAST_INSERT_ID", "FOUND_ROWS",     "ROW_COUNT",
      "SLEEP",    "VERSION",           "BENCHMARK",      "GET_LOCK",       "LOAD_FILE",
      "DEFAULT"};
  if (name == "UNIX_TIMESTAMP") return !has_arguments;
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// Calls `each` with every node of the tree; stops at the first error.
Status visit(const ast::Expr& tree, const std::function<Status(const ast::Expr&)>& each) {
  COMMITD_RETURN_IF_ERROR(each(tree));
  for (const ast::Expr* argument : tree.arguments) {
    if (argument != nullptr) COMMITD_RETURN_IF_ERROR(visit(*argument, each));
  }
  return {};
}

Status check_node(const TableDef& table, std::string_view name, const ast::Expr& node) {
  switch (node.kind) {
    case ast::ExprKind::Column: {
      const int ordinal = column_ordinal(table, node.text);
      if (ordinal < 0)
        return make_error(er::kCheckConstraintRefersUnknownColumn,
                          "Check constraint '{}' refers to non-existing column '{}'.", name, node.text);
      if (table.columns[static_cast<size_t>(ordinal)].auto_increment)
        return make_error(er::kCheckConstraintRefersAutoIncrementColumn,
                          "Check constraint '{}' cannot refer to an auto-increment column.", name);
      return {};
    }
    case ast::ExprKind::UserVariable:
    case ast::ExprKind::SystemVariable:
    case ast::ExprKind::AssignVariable:
      return make_error(er::kCheckConstraintVariables,
                        "An expression of a check constraint '{}' cannot refer to a user or system variable.",
                        name);
    case ast::ExprKind::Parameter:
    case ast::ExprKind::Subquery:
    case ast::ExprKind::InSelect:
    case ast::ExprKind::Exists:
    case ast::ExprKind::Default:
      return make_error(er::kCheckConstraintFunctionIsNotAllowed,
                        "An expression of a check constraint '{}' contains disallowed function.", name);
    case ast::ExprKind::Function:
      if (!is_nondeterministic(node.text, !node.arguments.empty())) return {};
      return make_error(er::kCheckConstraintNamedFunctionIsNotAllowed,
                        "An expression of a check constraint '{}' contains disallowed function: {}.", name,
                        lower_case(node.text));
    default:
      return {};
  }
}

bool name_in_use(const TableDef& table, const Catalog& catalog, std::string_view name) {
  const auto has = [&](const TableDef& other) {
    return std::any_of(other.checks.begin(), other.checks.end(),
                       [&](const CheckDef& check) { return lower_case(check.name) == lower_case(name); });
  };
  if (has(table)) return true;
  for (const TablePtr& other : catalog.tables(table.db)) {
    if (other->name != table.name && has(*other)) return true;
  }
  return false;
}

// MySQL's t_chk_1, t_chk_2 …
std::string free_check_name(const TableDef& table, const Catalog& catalog) {
  for (int number = 1;; ++number) {
    std::string name = fmt::format("{}_chk_{}", table.name, number);
    if (!name_in_use(table, catalog, name)) return name;
  }
}

bool refers_to(const CheckDef& check, std::string_view column) {
  Arena arena;
  const std::string text = "DO " + check.expression;
  auto parsed = parse_statement(text, arena, {});
  if (!parsed.ok()) return false;
  bool found = false;
  for (const ast::Expr* tree : ast::as<ast::DoStatement>(*parsed->statement).expressions) {
    (void)visit(*tree, [&](const ast::Expr& node) -> Status {
      found |= node.kind == ast::ExprKind::Column && lower_case(node.text) == lower_case(column);
      return {};
    });
  }
  return found;
}

}  // namespace

Status add_check(TableDef& table, const ast::CheckSpec& spec, std::string_view own_column,
                 const Context& context) {
  CheckDef check;
  check.name = spec.name.empty() ? free_check_name(table, context.catalog) : std::string(spec.name);
  COMMITD_RETURN_IF_ERROR(check_name(check.name, Named::Index));
  if (name_in_use(table, context.catalog, check.name))
    return make_error(er::kCheckConstraintDuplicateName, "Duplicate check constraint name '{}'.", check.name);
  COMMITD_RETURN_IF_ERROR(visit(*spec.expression, [&](const ast::Expr& node) -> Status {
    if (node.kind == ast::ExprKind::Column && !own_column.empty() &&
        lower_case(node.text) != lower_case(own_column))
      return make_error(er::kColumnCheckConstraintReferencesOtherColumn,
                        "Column check constraint '{}' references other column.", check.name);
    return check_node(table, check.name, node);
  }));
  check.expression = canonical(spec, context.sql_mode);
  check.enforced = spec.enforced;
  table.checks.push_back(std::move(check));
  return {};
}

CheckDef* find_check(TableDef& table, std::string_view name) {
  for (CheckDef& check : table.checks) {
    if (lower_case(check.name) == lower_case(name)) return &check;
  }
  return nullptr;
}

Error check_not_found(std::string_view name) {
  return make_error(er::kCheckConstraintNotFound, "Check constraint '{}' is not found in the table.", name);
}

Status check_free_of_checks(const TableDef& table, std::string_view column) {
  for (const CheckDef& check : table.checks) {
    if (refers_to(check, column))
      return make_error(er::kDependentByCheckConstraint,
                        "Check constraint '{}' uses column '{}', hence column cannot be dropped or renamed.",
                        check.name, column);
  }
  return {};
}

}  // namespace commitd::sql::ddl
