// Operands: literals, names, variables, function calls, CASE, CAST, subqueries.
#include <algorithm>
#include <charconv>

#include "base/error_codes.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {

using ast::ExprKind;

std::string_view Grammar::upper(std::string_view text) {
  char* copy = arena_.bytes(text.size());
  std::transform(text.begin(), text.end(), copy,
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 0x20) : c; });
  return {copy, text.size()};
}

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
      } else {
        fail();
        result = make(ExprKind::Null);
      }
  }
  set_source(*result, begin);
  return result;
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
  ast::Expr* result = make(kind);
  result->text = peek().text;
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
  if (is(Word::Select)) {
    ast::Expr* subquery = make(ExprKind::Subquery);
    subquery->select = select();
    expect(')');
    return subquery;
  }
  ast::Expr* inside = expression();
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

ast::Expr* Grammar::make_call(std::string_view name, std::initializer_list<ast::Expr*> list) {
  ast::Expr* call = make(ExprKind::Function);
  call->text = name;
  call->arguments.assign(list.begin(), list.end());
  return call;
}

void Grammar::arguments(ast::Expr& call) {
  if (accept(Word::Distinct)) call.distinct = true;
  if (is('*')) {
    advance();
    call.arguments.push_back(make(ExprKind::Star));
  } else if (!is(')')) {
    do {
      call.arguments.push_back(expression());
    } while (accept(','));
  }
}

ast::Expr* Grammar::function_call(std::string_view name, const char* begin) {
  const std::string_view function = upper(name);
  expect('(');
  if (ast::Expr* special = special_function(function, begin)) return special;
  ast::Expr* call = make(ExprKind::Function);
  call->text = function;
  arguments(*call);
  if (function == "GROUP_CONCAT") {
    if (is(Word::Order)) {
      call->order = arena_.make<ast::List<ast::OrderItem>>(arena_.resource());
      order_by(*call->order);
    }
    if (accept(Word::Separator)) call->separator = string_literal();
  }
  expect(')');
  if (accept_plain("over")) unsupported("window functions");
  return call;
}

// Calls whose arguments are not a plain list; the opening parenthesis is behind us. nullptr when it is an
// ordinary one.
ast::Expr* Grammar::special_function(std::string_view function, const char*) {
  if (function == "SUBSTRING" || function == "SUBSTR" || function == "MID") {
    ast::Expr* call = make_call("SUBSTRING", {expression()});
    while (accept(',') || accept(Word::From) || accept(Word::For)) call->arguments.push_back(expression());
    expect(')');
    return call;
  }
  if (function == "CHAR") {
    ast::Expr* call = make_call("CHAR", {});
    arguments(*call);
    if (accept(Word::Using)) {
      ast::Expr* text = make(ExprKind::Cast);
      text->cast = string_or_identifier() == "binary" ? ast::CastType::Binary : ast::CastType::Char;
      text->arguments.push_back(call);
      call = text;
    }
    expect(')');
    return call;
  }
  if (function == "POSITION") {
    ast::Expr* needle = binary(5);
    expect(Word::In);
    ast::Expr* call = make_call("LOCATE", {needle, expression()});
    expect(')');
    return call;
  }
  if (function == "TRIM") {
    std::string_view name = "TRIM";
    if (accept(Word::Leading))
      name = "TRIM_LEADING";
    else if (accept(Word::Trailing))
      name = "TRIM_TRAILING";
    else
      accept(Word::Both);
    ast::Expr* what = is(Word::From) ? nullptr : expression();
    ast::Expr* call = nullptr;
    if (accept(Word::From)) {
      ast::Expr* from = expression();
      call = what == nullptr ? make_call(name, {from}) : make_call(name, {from, what});
    } else {
      call = make_call(name, {what});
    }
    expect(')');
    return call;
  }
  if (function == "EXTRACT") {
    ast::Expr* unit = make(ExprKind::Interval);
    unit->text = interval_unit();
    expect(Word::From);
    ast::Expr* call = make_call("EXTRACT", {expression(), unit});
    expect(')');
    return call;
  }
  if (function == "TIMESTAMPDIFF" || function == "TIMESTAMPADD") {
    ast::Expr* unit = make(ExprKind::Interval);
    unit->text = interval_unit();
    ast::Expr* call = make_call(function, {unit});
    while (accept(',')) call->arguments.push_back(expression());
    expect(')');
    return call;
  }
  return nullptr;
}

namespace {

constexpr std::string_view kIntervalUnits[] = {"MICROSECOND",
                                               "SECOND",
                                               "MINUTE",
                                               "HOUR",
                                               "DAY",
                                               "WEEK",
                                               "MONTH",
                                               "QUARTER",
                                               "YEAR",
                                               "YEAR_MONTH",
                                               "DAY_HOUR",
                                               "DAY_MINUTE",
                                               "DAY_SECOND",
                                               "DAY_MICROSECOND",
                                               "HOUR_MINUTE",
                                               "HOUR_SECOND",
                                               "HOUR_MICROSECOND",
                                               "MINUTE_SECOND",
                                               "MINUTE_MICROSECOND",
                                               "SECOND_MICROSECOND"};

// Digits behind the point of a time's text, as far as they count.
uint8_t fraction_digits(std::string_view text) {
  const size_t point = text.find('.');
  return point == std::string_view::npos ? 0
                                         : static_cast<uint8_t>(std::min<size_t>(text.size() - point - 1, 6));
}

}  // namespace

std::string_view Grammar::interval_unit() {
  std::string_view unit = upper(peek().text);
  if (unit.starts_with("SQL_TSI_")) unit.remove_prefix(8);
  if (std::find(std::begin(kIntervalUnits), std::end(kIntervalUnits), unit) == std::end(kIntervalUnits))
    fail();
  advance();
  return unit;
}

// INTERVAL n unit; INTERVAL(n, a, b …) is a function.
ast::Expr* Grammar::interval() {
  expect(Word::Interval);
  ast::Expr* amount = nullptr;
  if (is('(')) {
    const char* begin = peek().begin;
    amount = parenthesized();
    if (amount->kind == ExprKind::Row) {
      amount->kind = ExprKind::Function;
      amount->text = "INTERVAL";
      return amount;
    }
    set_source(*amount, begin);
  }
  amount = binary(0, amount);
  ast::Expr* result = make(ExprKind::Interval);
  result->arguments.push_back(amount);
  result->text = interval_unit();
  return result;
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

void Grammar::cast_target(ast::Expr& cast) {
  const Word word = peek().word;
  advance();
  using ast::CastType;
  switch (word) {
    case Word::Signed:
    case Word::Unsigned:
      cast.cast = word == Word::Signed ? CastType::Signed : CastType::Unsigned;
      if (!accept(Word::Integer)) accept(Word::Int);
      break;
    case Word::Char:
    case Word::Character:
    case Word::NChar:
      cast.cast = CastType::Char;
      break;
    case Word::Binary:
      cast.cast = CastType::Binary;
      break;
    case Word::Decimal:
      cast.cast = CastType::Decimal;
      cast.cast_length = 10;
      break;
    case Word::Double:
      cast.cast = CastType::Double;
      break;
    case Word::Real:
      cast.cast = CastType::Double;
      break;
    case Word::Float:
      cast.cast = CastType::Float;
      break;
    case Word::Date:
      cast.cast = CastType::Date;
      break;
    case Word::Time:
      cast.cast = CastType::Time;
      break;
    case Word::DateTime:
      cast.cast = CastType::DateTime;
      break;
    case Word::Year:
      cast.cast = CastType::Year;
      break;
    case Word::Json:
      cast.cast = CastType::Json;
      break;
    default:
      fail();
  }
  if (accept('(')) {
    cast.cast_has_length = true;
    cast.cast_length = static_cast<uint32_t>(unsigned_number());
    if (accept(',')) cast.cast_decimals = static_cast<uint8_t>(unsigned_number());
    expect(')');
    if (cast.cast == CastType::DateTime || cast.cast == CastType::Time) {
      if (cast.cast_length > 6) fail(Error{1426, "Too-big precision specified for 'CAST'. Maximum is 6."});
      cast.cast_decimals = static_cast<uint8_t>(cast.cast_length);
    }
  }
  std::string_view charset, collation;
  while (charset_option(charset, collation)) {
  }
}

ast::Expr* Grammar::cast_expression(bool convert) {
  advance();
  expect('(');
  ast::Expr* cast = make(ExprKind::Cast);
  cast->arguments.push_back(expression());
  if (convert && accept(Word::Using)) {
    const std::string_view charset = string_or_identifier();
    cast->cast = charset == "binary" ? ast::CastType::Binary : ast::CastType::Char;
  } else {
    if (convert)
      expect(',');
    else
      expect(Word::As);
    cast_target(*cast);
  }
  expect(')');
  return cast;
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
      ast::Expr* value = make(ExprKind::Default);
      if (accept('(')) {
        value->text = identifier();
        expect(')');
      }
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
        ast::Expr* cast = make(ExprKind::Cast);
        cast->cast = word == Word::Date   ? ast::CastType::Date
                     : word == Word::Time ? ast::CastType::Time
                                          : ast::CastType::DateTime;
        advance();
        cast->arguments.push_back(literal());
        cast->cast_decimals = fraction_digits(cast->arguments[0]->text);
        return cast;
      }
      break;
    case Word::Match:
      unsupported("full-text search");
      break;
    default:
      break;
  }
  // Character set introducers: _utf8mb4'text', _binary'text'.
  if (peek().text.size() > 1 && peek().text[0] == '_' &&
      (peek_next().kind == TokenKind::String || peek_next().kind == TokenKind::Hex)) {
    const bool binary = peek().text == "_binary";
    advance();
    ast::Expr* text = literal();
    if (!binary) return text;
    ast::Expr* cast = make(ExprKind::Cast);
    cast->cast = ast::CastType::Binary;
    cast->arguments.push_back(text);
    return cast;
  }
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
