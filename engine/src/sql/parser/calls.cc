// Calls of functions, and INTERVAL, which is one with a list and none with a unit.
#include <algorithm>

#include "base/error_codes.h"
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
