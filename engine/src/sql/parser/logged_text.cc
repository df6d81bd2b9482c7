#include "sql/parser/logged_text.h"

#include <string_view>

#include "sql/lexer/lexer.h"

namespace commitd::sql {
namespace {

size_t count(std::string_view text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// What stands between two tokens, if all its comments are comments to every server: MariaDB has another
// version, and a kind of its own.
bool has_plain_comments(std::string_view gap) {
  return count(gap, "/*") == count(gap, "*/") && count(gap, "/*!") == 0 && count(gap, "/*M!") == 0;
}

}  // namespace

std::string logged_text(const ast::Statement& statement, uint64_t sql_mode) {
  const std::string_view text = statement.text;
  LexerOptions options = lexer_options(sql_mode);
  options.open_comments = statement.open_comments;
  const bool has_comments = count(text, "/*") != 0 || count(text, "*/") != 0;
  if (!has_comments && !options.real_as_float) return std::string(text);
  Arena arena;
  Lexer lexer(text, arena, options);
  std::string logged;
  const char* behind = text.data();
  for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
    const std::string_view gap(behind, static_cast<size_t>(token.begin - behind));
    logged += has_plain_comments(gap) ? gap : " ";
    if (options.real_as_float && token.word == Word::Real)
      logged += "FLOAT";
    else
      logged.append(token.begin, token.end);
    behind = token.end;
  }
  return logged;
}

}  // namespace commitd::sql
