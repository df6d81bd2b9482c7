// Text → syntax tree. One statement at a time: a text of several statements is parsed piece by piece.
#pragma once

#include <string_view>

#include "base/result.h"
#include "sql/arena.h"
#include "sql/ast/statement.h"
#include "sql/lexer/lexer.h"

namespace commitd::sql {

struct ParsedStatement {
  const ast::Statement* statement = nullptr;
  std::string_view rest;  // behind the semicolon; empty when nothing but blanks and comments follows
};

// Both texts must live as long as the tree. Error 1064 names the place, 1235 what is not supported.
Result<ParsedStatement> parse_statement(std::string_view text, Arena& arena, LexerOptions options = {});

struct LoggedStatement {
  const ast::Statement* statement = nullptr;
  uint64_t sql_mode = 0;  // that it was read by
};

// A statement that was executed once, maybe by an earlier version: what that one ignored is not refused.
// Earlier versions read || and NOT as the default sql_mode does; so is what could not be read otherwise.
Result<LoggedStatement> parse_logged_statement(std::string_view text, uint64_t sql_mode, Arena& arena);

}  // namespace commitd::sql
