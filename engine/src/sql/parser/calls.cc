// Calls of functions, and INTERVAL, which is one with a list and none with a unit.
#include <algorithm>

#include "base/error_codes.h"
#include "base/text_case.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {

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

// They take the digits of a second that are wanted.
constexpr std::string_view kClocks[] = {"CURRENT_TIME", "CURRENT_TIMESTAMP", "CURTIME",
                                        "LOCALTIME",    "LOCALTIMESTAMP",    "NOW",
                                        "SYSDATE",      "UTC_TIME",          "UTC_TIMESTAMP"};
static_assert(std::ranges::is_sorted(kClocks));

}  // namespace

using ast::ExprKind;

std::string_view Grammar::upper(std::string_view text) {
  char* copy = arena_.bytes(text.size());
  std::transform(text.begin(), text.end(), copy,
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 0x20) : c; });
  return {copy, text.size()};
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

void Grammar::check_precision(const ast::Expr& call) {
  if (call.arguments.size() != 1 || call.arguments[0]->kind != ExprKind::Integer) return;
  const std::string_view digits = call.arguments[0]->text;
  if (digits.size() > 1 || digits[0] > '6')
    fail(make_error(er::kTooBigPrecision, "Too-big precision {} specified for '{}'. Maximum is 6.", digits,
                    lower_case(call.text)));
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
  if (std::ranges::binary_search(kClocks, function)) check_precision(*call);
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
      using_charset(*text);
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
  if (function == "ROW") {
    ast::Expr* row = make(ExprKind::Row);
    do {
      row->arguments.push_back(expression());
    } while (accept(','));
    if (row->arguments.size() < 2) fail();
    expect(')');
    return row;
  }
  if (function == "GET_FORMAT") {
    ast::Expr* type = make(ExprKind::String);
    type->text = is(Word::Date) ? "DATE" : is(Word::Time) ? "TIME" : "DATETIME";
    if (!accept(Word::Date) && !accept(Word::Time) && !accept(Word::DateTime)) expect(Word::Timestamp);
    expect(',');
    ast::Expr* call = make_call("GET_FORMAT", {type, expression()});
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

}  // namespace commitd::sql
