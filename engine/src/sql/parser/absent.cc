// What MySQL has and we have not: it is named (1235), where it would otherwise be taken for a mistake (1064).
#include <algorithm>
#include <span>

#include "base/text_case.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {
namespace {

struct Absent {
  std::string_view word;
  std::string_view what;
};

constexpr Absent kStatements[] = {
    {"cache", "CACHE INDEX"},
    {"call", "stored routines"},
    {"clone", "CLONE"},
    {"get", "GET DIAGNOSTICS"},
    {"handler", "HANDLER"},
    {"help", "HELP"},
    {"import", "IMPORT TABLE"},
    {"resignal", "RESIGNAL"},
    {"restart", "RESTART"},
    {"signal", "SIGNAL"},
    {"table", "TABLE as a statement"},
    {"values", "VALUES as a statement"},
    {"xa", "XA transactions"},
};

// What can be created, altered and dropped.
constexpr Absent kObjects[] = {
    {"event", "EVENT"},
    {"fulltext", "FULLTEXT and SPATIAL indexes"},
    {"function", "stored routines"},
    {"library", "LIBRARY"},
    {"logfile", "LOGFILE GROUP"},
    {"procedure", "stored routines"},
    {"reference", "SPATIAL REFERENCE SYSTEM"},
    {"resource", "RESOURCE GROUP"},
    {"role", "roles"},
    {"spatial", "FULLTEXT and SPATIAL indexes"},
    {"tablespace", "TABLESPACE"},
    {"trigger", "TRIGGER"},
    {"view", "VIEW"},
};

// Words in front of the one that says what is created: OR REPLACE, DEFINER = 'a'@'b', SQL SECURITY INVOKER …
constexpr std::string_view kPrefixes[] = {"aggregate", "algorithm", "definer", "or", "sql", "undo"};

bool is_one_of(std::span<const std::string_view> words, const Token& token) {
  return std::ranges::any_of(words, [&](std::string_view word) { return equal_words(token.text, word); });
}

std::string_view find(std::span<const Absent> all, const Token& token) {
  if (token.kind != TokenKind::Identifier) return {};
  for (const Absent& absent : all) {
    if (equal_words(token.text, absent.word)) return absent.what;
  }
  return {};
}

}  // namespace

void Grammar::absent_statement() {
  if (const std::string_view what = find(kStatements, peek()); !what.empty()) unsupported(what);
  fail();
}

void Grammar::absent_object() {
  const bool prefixed = peek().kind == TokenKind::Identifier && is_one_of(kPrefixes, peek());
  const Token begin = peek();
  while (prefixed && find(kObjects, peek()).empty() && peek().kind != TokenKind::End && !is(';')) advance();
  if (const std::string_view what = find(kObjects, peek()); !what.empty()) unsupported(what);
  if (!failed()) token_ = begin;  // where the mistake is
  fail();
}

// Behind a table's name in FROM, or where a table is expected.
void Grammar::refuse_absent_table() {
  if (!is(Word::NotAWord)) return;
  const bool lateral = is_plain(peek(), "lateral");
  if (!lateral && !is_plain(peek(), "json_table")) return;
  const Token& next = peek_next();
  if (next.kind != TokenKind::Symbol || next.symbol != symbol('(')) return;
  unsupported(lateral ? "LATERAL" : "JSON_TABLE");
}

// Words that MySQL reserves and that would be taken for an alias.
void Grammar::refuse_absent_clause() {
  if (peek().kind != TokenKind::Identifier) return;
  if (is(Word::Except)) unsupported("EXCEPT");
  if (is_plain(peek(), "intersect")) unsupported("INTERSECT");
  if (is_plain(peek(), "window")) unsupported("window functions");
}

}  // namespace commitd::sql
