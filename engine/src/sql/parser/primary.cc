// Operands: literals, names, variables, subqueries, CASE, and what a word begins.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/decimal.h"
#include "base/error_codes.h"
#include "base/text_case.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {

using ast::ExprKind;

namespace {

constexpr uint16_t kIllegalValueForType = 1367;

bool is_infinite(std::string_view number) {
  return std::isinf(std::strtod(std::string(number).c_str(), nullptr));
}

// Digits behind the point of a time's text, as far as they count.
uint8_t fraction_digits(std::string_view text) {
  const size_t point = text.find('.');
  return point == std::string_view::npos ? 0
                                         : static_cast<uint8_t>(std::min<size_t>(text.size() - point - 1, 6));
}

}  // namespace

ast::Expr* Grammar::primary() {
  const char* begin = peek().begin;
  ast::Expr* result = nullptr;
  switch (peek().kind) {
    case TokenKind::String:
    case TokenKind::Integer:
    case TokenKind::Decimal:
    case TokenKind::Float:
    case TokenKind::Hex:
    case TokenKind::Bits:
    case TokenKind::Parameter:
      result = literal();
      break;
    case TokenKind::UserVariable: {
      result = make(ExprKind::UserVariable);
      result->text = peek().text;
      advance();
      if (accept(Symbol::Assign)) {
        result->kind = ExprKind::AssignVariable;
        result->arguments.push_back(expression());
      }
      break;
    }
    case TokenKind::SystemVariable:
      result = system_variable();
      break;
    case TokenKind::QuotedIdentifier:
      result = column_or_path();
      break;
    case TokenKind::Identifier:
      result = word_expression();
      break;
    default:
      if (is('(')) {
        result = parenthesized();
      } else if (is('{')) {
        result = odbc_escape();
      } else {
        fail();
        result = make(ExprKind::Null);
      }
  }
  set_source(*result, begin);
  return result;
}

// A number that a DECIMAL of ours does not hold must not become a DOUBLE.
void Grammar::check_digits(std::string_view number) {
  if (number.size() <= kMaxDecimalPrecision || parse_decimal(number)) return;
  unsupported("DECIMAL of more than 38 digits");
}

ast::Expr* Grammar::literal() {
  ExprKind kind = ExprKind::String;
  switch (peek().kind) {
    case TokenKind::Integer:
      kind = ExprKind::Integer;
      break;
    case TokenKind::Decimal:
      kind = ExprKind::Decimal;
      break;
    case TokenKind::Float:
      kind = ExprKind::Float;
      break;
    case TokenKind::Hex:
      kind = ExprKind::Hex;
      break;
    case TokenKind::Bits:
      kind = ExprKind::Bits;
      break;
    case TokenKind::Parameter:
      kind = ExprKind::Parameter;
      break;
    default:
      break;
  }
  if (kind == ExprKind::Float && !executed_before_ && is_infinite(peek().text))
    fail(make_error(kIllegalValueForType, "Illegal double '{}' value found during parsing", peek().text));
  ast::Expr* result = make(kind);
  result->text = peek().text;
  if (kind == ExprKind::Integer || kind == ExprKind::Decimal) check_digits(result->text);
  if (kind == ExprKind::Parameter) result->parameter = parameters_++;
  advance();
  // 'a' 'b' is one string.
  while (kind == ExprKind::String && peek().kind == TokenKind::String) {
    char* joined = arena_.bytes(result->text.size() + peek().text.size());
    std::copy(result->text.begin(), result->text.end(), joined);
    std::copy(peek().text.begin(), peek().text.end(), joined + result->text.size());
    result->text = {joined, result->text.size() + peek().text.size()};
    advance();
  }
  return result;
}

ast::Expr* Grammar::parenthesized() {
  expect('(');
  if (is(Word::Select) || is(Word::With)) {
    ast::Expr* subquery = make(ExprKind::Subquery);
    subquery->select = select();
    expect(')');
    return subquery;
  }
  ast::Expr* inside = expression();
  if (inside->kind == ExprKind::Subquery && goes_on_as_select())  // ((SELECT …) UNION (SELECT …))
    inside->select = select_behind(inside->select, true, nullptr);
  if (is(',')) {
    ast::Expr* row = make(ExprKind::Row);
    row->arguments.push_back(inside);
    while (accept(',')) row->arguments.push_back(expression());
    inside = row;
  }
  expect(')');
  return inside;
}

ast::Expr* Grammar::system_variable() {
  ast::Expr* variable = make(ExprKind::SystemVariable);
  advance();
  if (is(Word::Global) && next_is(Word::NotAWord) && peek_next().kind == TokenKind::Symbol) {
    advance();
    expect('.');
    variable->scope = ast::VariableScope::Global;
  } else if ((is(Word::Session) || is(Word::Local)) && peek_next().kind == TokenKind::Symbol) {
    advance();
    expect('.');
    variable->scope = ast::VariableScope::Session;
  }
  if (peek().kind != TokenKind::Identifier && peek().kind != TokenKind::QuotedIdentifier) fail();
  variable->text = peek().text;
  advance();
  return variable;
}

ast::Expr* Grammar::column_reference() {
  ast::Expr* column = make(ExprKind::Column);
  column->text = identifier();
  while (accept('.')) {
    if (!column->db.empty()) fail();
    column->db = column->table;
    column->table = column->text;
    if (is('*')) {
      advance();
      column->kind = ExprKind::Star;
      column->text = {};
      return column;
    }
    column->text = peek().text;
    if (peek().kind != TokenKind::Identifier && peek().kind != TokenKind::QuotedIdentifier) fail();
    advance();
  }
  if (!column->table.empty() && is('('))
    fail(make_error(er::kSpDoesNotExist, "FUNCTION {}.{} does not exist", column->table, column->text));
  return column;
}

// A column, or what column->'path' and column->>'path' find in it.
ast::Expr* Grammar::column_or_path() {
  ast::Expr* column = column_reference();
  if (!is(Symbol::JsonExtract) && !is(Symbol::JsonUnquote)) return column;
  const bool unquote = is(Symbol::JsonUnquote);
  advance();
  ast::Expr* path = make(ExprKind::String);
  path->text = string_literal();
  ast::Expr* found = make_call("JSON_EXTRACT", {column, path});
  return unquote ? make_call("JSON_UNQUOTE", {found}) : found;
}

ast::Expr* Grammar::case_expression() {
  expect(Word::Case);
  ast::Expr* result = make(ExprKind::Case);
  if (!is(Word::When)) {
    result->has_operand = true;
    result->arguments.push_back(expression());
  }
  while (accept(Word::When)) {
    result->arguments.push_back(expression());
    expect(Word::Then);
    result->arguments.push_back(expression());
  }
  if (accept(Word::Else)) {
    result->has_else = true;
    result->arguments.push_back(expression());
  }
  expect(Word::End);
  return result;
}

// Character sets that MySQL has: _koi8r 'text' is no column with an alias.
constexpr std::string_view kCharsets[] = {
    "armscii8", "ascii",   "big5",   "binary",   "cp1250",  "cp1251", "cp1256",  "cp1257", "cp850",
    "cp852",    "cp866",   "cp932",  "dec8",     "eucjpms", "euckr",  "gb18030", "gb2312", "gbk",
    "geostd8",  "greek",   "hebrew", "hp8",      "keybcs2", "koi8r",  "koi8u",   "latin1", "latin2",
    "latin5",   "latin7",  "macce",  "macroman", "sjis",    "swe7",   "tis620",  "ucs2",   "ujis",
    "utf16",    "utf16le", "utf32",  "utf8",     "utf8mb3", "utf8mb4"};

bool Grammar::at_introducer() {
  const std::string_view text = peek().text;
  if (text.size() < 2 || text[0] != '_') return false;
  const TokenKind next = peek_next().kind;
  if (next != TokenKind::String && next != TokenKind::Hex && next != TokenKind::Bits) return false;
  return std::ranges::any_of(kCharsets, [&](auto name) { return equal_words(name, text.substr(1)); });
}

// _latin1 'text', _utf8mb4 0x41: the literal's bytes as a text of that character set.
ast::Expr* Grammar::introduced() {
  ast::Expr* cast = make(ExprKind::Cast);
  cast->text = peek().text.substr(1);
  cast->cast = equal_words(cast->text, "binary") ? ast::CastType::Binary : ast::CastType::Char;
  cast->typed_literal = true;
  advance();
  cast->arguments.push_back(literal());
  return cast;
}

ast::Expr* Grammar::typed_literal(ast::CastType type, ast::Expr* text) {
  ast::Expr* cast = make(ExprKind::Cast);
  cast->cast = type;
  cast->typed_literal = true;
  cast->cast_decimals = fraction_digits(text->text);
  cast->arguments.push_back(text);
  return cast;
}

// {d '2020-01-01'}, {t '10:11:12'}, {ts '2020-01-01 10:11:12'}; of anything else, as {fn NOW()}, the
// expression inside.
ast::Expr* Grammar::odbc_escape() {
  using ast::CastType;
  expect('{');
  enter();
  const std::string_view word = identifier();
  ast::Expr* inside = expression();
  leave();
  expect('}');
  const CastType type = equal_words(word, "d")    ? CastType::Date
                        : equal_words(word, "t")  ? CastType::Time
                        : equal_words(word, "ts") ? CastType::DateTime
                                                  : CastType::None;
  if (type == CastType::None || inside->kind != ExprKind::String) return inside;
  ast::Expr* typed = typed_literal(type, inside);
  typed->or_text = true;
  return typed;
}

ast::Expr* Grammar::word_expression() {
  const char* begin = peek().begin;
  const Word word = peek().word;
  const bool call = peek_next().kind == TokenKind::Symbol && peek_next().symbol == symbol('(');
  switch (word) {
    case Word::Null:
      advance();
      return make(ExprKind::Null);
    case Word::True:
    case Word::False: {
      ast::Expr* boolean = make(ExprKind::Boolean);
      boolean->negated = word == Word::False;
      advance();
      return boolean;
    }
    case Word::Case:
      return case_expression();
    case Word::Cast:
      if (call) return cast_expression(false);
      break;
    case Word::Convert:
      return cast_expression(true);
    case Word::Interval:
      return interval();
    case Word::Exists: {
      advance();
      expect('(');
      ast::Expr* exists = make(ExprKind::Exists);
      exists->select = select();
      expect(')');
      return exists;
    }
    case Word::Default: {
      advance();
      if (!accept('(')) return make(ExprKind::Default);
      ast::Expr* value = make_call("DEFAULT", {column_reference()});
      expect(')');
      return value;
    }
    case Word::CurrentTimestamp:
    case Word::LocalTime:
    case Word::LocalTimestamp:
    case Word::CurrentDate:
    case Word::CurrentTime:
    case Word::CurrentUser:
    case Word::UtcTimestamp:
    case Word::UtcDate: {
      const std::string_view name = peek().text;
      if (call) {
        advance();
        return function_call(name, begin);
      }
      advance();
      return make_call(upper(name), {});
    }
    // Reserved words that are functions when a parenthesis follows.
    case Word::If:
    case Word::Left:
    case Word::Right:
    case Word::Replace:
    case Word::Repeat:
    case Word::Values:
    case Word::Database:
    case Word::Schema:
    case Word::Mod:
    case Word::Char:
    case Word::Insert:
      if (call) {
        const std::string_view name = peek().text;
        advance();
        return function_call(name, begin);
      }
      break;
    // DATE '2020-01-01' and its like.
    case Word::Date:
    case Word::Time:
    case Word::Timestamp:
      if (peek_next().kind == TokenKind::String) {
        advance();
        return typed_literal(word == Word::Date   ? ast::CastType::Date
                             : word == Word::Time ? ast::CastType::Time
                                                  : ast::CastType::DateTime,
                             literal());
      }
      break;
    case Word::Match:
      unsupported("full-text search");
      break;
    default:
      break;
  }
  if (!call && is_plain(peek(), "utc_time")) {
    advance();
    return make_call("UTC_TIME", {});
  }
  if (at_introducer()) return introduced();
  if ((peek().text == "N" || peek().text == "n") && peek_next().kind == TokenKind::String) {
    advance();
    return literal();
  }
  if (call && !is_reserved(word)) {
    const std::string_view name = peek().text;
    advance();
    return function_call(name, begin);
  }
  return column_or_path();
}

}  // namespace commitd::sql
