// Operators by precedence (MySQL's order, loosest first).
#include <algorithm>

#include "base/charset/utf8.h"
#include "base/error_codes.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {
namespace {

using ast::Op;

struct BinaryOperator {
  Op op = Op::None;
  int precedence = 0;
};

constexpr int kComparison = 4;
constexpr int kNot = 3;
constexpr int kDeepest = 400;
// a + b + … is parsed without recursion, but is bound and evaluated with it.
constexpr uint16_t kTallest = 2500;

// A switch over one-character symbols needs their number: they are not enumerators.
constexpr uint16_t number(Symbol s) {
  return static_cast<uint16_t>(s);
}

BinaryOperator binary_operator(const Token& token) {
  switch (token.word) {
    case Word::Or:
      return {Op::Or, 0};
    case Word::Xor:
      return {Op::Xor, 1};
    case Word::And:
      return {Op::And, 2};
    case Word::Div:
      return {Op::IntDivide, 10};
    case Word::Mod:
      return {Op::Modulo, 10};
    default:
      break;
  }
  if (token.kind != TokenKind::Symbol) return {};
  switch (number(token.symbol)) {
    case number(Symbol::OrOr):
      return {Op::Or, 0};
    case number(Symbol::AndAnd):
      return {Op::And, 2};
    case number(symbol('=')):
      return {Op::Equal, kComparison};
    case number(Symbol::NullSafeEqual):
      return {Op::NullSafeEqual, kComparison};
    case number(Symbol::NotEqual):
      return {Op::NotEqual, kComparison};
    case number(symbol('<')):
      return {Op::Less, kComparison};
    case number(Symbol::LessEqual):
      return {Op::LessEqual, kComparison};
    case number(symbol('>')):
      return {Op::Greater, kComparison};
    case number(Symbol::GreaterEqual):
      return {Op::GreaterEqual, kComparison};
    case number(symbol('|')):
      return {Op::BitOr, 6};
    case number(symbol('&')):
      return {Op::BitAnd, 7};
    case number(Symbol::ShiftLeft):
      return {Op::ShiftLeft, 8};
    case number(Symbol::ShiftRight):
      return {Op::ShiftRight, 8};
    case number(symbol('+')):
      return {Op::Add, 9};
    case number(symbol('-')):
      return {Op::Subtract, 9};
    case number(symbol('*')):
      return {Op::Multiply, 10};
    case number(symbol('/')):
      return {Op::Divide, 10};
    case number(symbol('%')):
      return {Op::Modulo, 10};
    case number(symbol('^')):
      return {Op::BitXor, 11};
    case number(Symbol::Concat):
      return {Op::Concat, 12};
    default:
      return {};
  }
}

bool starts_predicate_tail(const Token& token) {
  switch (token.word) {
    case Word::Is:
    case Word::Like:
    case Word::Between:
    case Word::In:
    case Word::Regexp:
    case Word::Rlike:
    case Word::Not:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Grammar::enter() {
  if (++depth_ > kDeepest) fail(Error{er::kStackOverrunNeedMore, "Expression is nested too deeply"});
}

void Grammar::set_source(ast::Expr& e, const char* begin) {
  e.source = previous_end_to(begin);
  uint16_t below = e.select != nullptr ? tallest_ : uint16_t{0};
  for (const ast::Expr* argument : e.arguments) below = std::max(below, argument->height);
  e.height = static_cast<uint16_t>(below + 1);
  tallest_ = std::max(tallest_, e.height);
  if (e.height > kTallest)
    fail(Error{er::kStackOverrunNeedMore, "Expression is too long a chain of operators"});
}

// a OR b OR … as a tree that is as low as can be: it is bound and evaluated recursively, in the same order.
ast::Expr* Grammar::logic_chain(ast::Expr* first, Op op, int precedence) {
  std::vector<ast::Expr*> terms{first};
  const char* begin = first->source.data();
  while (binary_operator(peek()).op == op) {
    advance();
    terms.push_back(binary(precedence + 1));
  }
  while (terms.size() > 1) {
    for (size_t i = 0; i + 1 < terms.size(); i += 2) {
      ast::Expr* joined = make(ast::ExprKind::Binary);
      joined->op = op;
      joined->arguments.reserve(2);
      joined->arguments.push_back(terms[i]);
      joined->arguments.push_back(terms[i + 1]);
      set_source(*joined, begin);
      terms[i / 2] = joined;
    }
    if (terms.size() % 2 != 0) terms[terms.size() / 2] = terms.back();
    terms.resize((terms.size() + 1) / 2);
  }
  return terms[0];
}

ast::Expr* Grammar::binary(int least_precedence, ast::Expr* left) {
  enter();
  const char* begin = peek().begin;
  if (left != nullptr) {
    begin = left->source.data();
  } else if (least_precedence <= kNot && is(Word::Not) && !options_.high_not_precedence) {
    advance();
    left = make(ast::ExprKind::Unary);
    left->op = Op::Not;
    left->arguments.push_back(binary(kNot));
    set_source(*left, begin);
  } else {
    left = unary();
  }
  for (;;) {
    if (least_precedence <= kComparison && at_member_of()) {
      left = member_of(left);
      set_source(*left, begin);
      continue;
    }
    if (least_precedence <= kComparison && starts_predicate_tail(peek())) {
      left = predicate_tail(left);
      set_source(*left, begin);
      continue;
    }
    const BinaryOperator found = binary_operator(peek());
    if (found.op == Op::None || found.precedence < least_precedence) break;
    if (found.op == Op::And || found.op == Op::Or) {
      left = logic_chain(left, found.op, found.precedence);
      set_source(*left, begin);
      continue;
    }
    advance();
    const bool quantifiable = found.precedence == kComparison && found.op != Op::NullSafeEqual;
    if (quantifiable && (is(Word::All) || is(Word::Any) || is(Word::Some))) {
      ast::Expr* quantified = make(is(Word::All) ? ast::ExprKind::AllOf : ast::ExprKind::AnyOf);
      advance();
      quantified->op = found.op;
      quantified->arguments.push_back(left);
      expect('(');
      quantified->select = select();
      expect(')');
      left = quantified;
      set_source(*left, begin);
      continue;
    }
    ast::Expr* joined = make(ast::ExprKind::Binary);
    joined->op = found.op;
    joined->arguments.reserve(2);
    joined->arguments.push_back(left);
    joined->arguments.push_back(binary(found.precedence + 1));
    left = joined;
    set_source(*left, begin);
  }
  leave();
  return left;
}

// MEMBER is a word that columns and aliases may have as a name: OF or a parenthesis tells.
bool Grammar::at_member_of() {
  if (!is_plain(peek(), "member")) return false;
  const Token& next = peek_next();
  return is_plain(next, "of") || (next.kind == TokenKind::Symbol && next.symbol == symbol('('));
}

// value MEMBER [OF] (array)
ast::Expr* Grammar::member_of(ast::Expr* value) {
  advance();
  accept_plain("of");
  expect('(');
  ast::Expr* call = make_call("MEMBER OF", {value, expression()});
  expect(')');
  return call;
}

// IS, LIKE, BETWEEN, IN … behind an operand.
ast::Expr* Grammar::predicate_tail(ast::Expr* left) {
  if (accept(Word::Is)) {
    const bool negated = accept(Word::Not);
    ast::Expr* test = make(ast::ExprKind::IsNull);
    test->negated = negated;
    test->arguments.push_back(left);
    if (accept(Word::Null) || accept(Word::Unknown)) return test;
    test->kind = ast::ExprKind::Unary;
    test->op = is(Word::True) ? Op::IsTrue : Op::IsFalse;
    if (!accept(Word::True)) expect(Word::False);
    return test;
  }
  const bool negated = accept(Word::Not);
  ast::Expr* test = make(ast::ExprKind::Like);
  test->negated = negated;
  test->arguments.push_back(left);
  if (accept(Word::Like)) {
    test->arguments.push_back(binary(kComparison + 1));
    test->separator = accept(Word::Escape) ? escape_character() : std::string_view("\\");
  } else if (accept(Word::Regexp) || accept(Word::Rlike)) {
    test->kind = ast::ExprKind::Regexp;
    test->arguments.push_back(binary(kComparison + 1));
  } else if (accept(Word::Between)) {
    test->kind = ast::ExprKind::Between;
    test->arguments.push_back(binary(kComparison + 1));
    expect(Word::And);
    test->arguments.push_back(binary(kComparison + 1));
  } else {
    expect(Word::In);
    expect('(');
    test->kind = ast::ExprKind::In;
    if (is(Word::Select) || is(Word::With)) {
      test->kind = ast::ExprKind::InSelect;
      test->select = select();
    } else {
      do {
        test->arguments.push_back(expression());
      } while (accept(','));
      in_parenthesized_select(*test);
    }
    expect(')');
  }
  return test;
}

// One character, or none.
std::string_view Grammar::escape_character() {
  const std::string_view escape = string_literal();
  if (character_count(escape) > 1) fail(make_error(er::kWrongArguments, "Incorrect arguments to ESCAPE"));
  return escape;
}

// x IN ((SELECT …)) is x IN (SELECT …), and so is x IN ((SELECT …) UNION (SELECT …)).
void Grammar::in_parenthesized_select(ast::Expr& in) {
  if (in.arguments.size() != 2 || in.arguments[1]->kind != ast::ExprKind::Subquery) return;
  in.kind = ast::ExprKind::InSelect;
  in.select = in.arguments[1]->select;
  if (goes_on_as_select()) in.select = select_behind(in.select, true, nullptr);
  in.arguments.pop_back();
}

ast::Expr* Grammar::unary() {
  const char* begin = peek().begin;
  while (accept('+')) {
  }
  Op op = Op::None;
  if (accept('-'))
    op = Op::Negate;
  else if (accept('~'))
    op = Op::BitInvert;
  else if (accept('!') || (options_.high_not_precedence && accept(Word::Not)))
    op = Op::Not;
  ast::Expr* result;
  if (op != Op::None) {
    enter();
    result = make(ast::ExprKind::Unary);
    result->op = op;
    result->arguments.push_back(unary());
    leave();
  } else if (accept(Word::Binary)) {
    result = make(ast::ExprKind::Cast);
    result->cast = ast::CastType::Binary;
    enter();
    result->arguments.push_back(unary());
    leave();
  } else {
    result = primary();
  }
  set_source(*result, begin);
  while (accept(Word::Collate)) {
    ast::Expr* collated = make(ast::ExprKind::Collate);
    collated->text = string_or_identifier();
    collated->arguments.push_back(result);
    result = collated;
    set_source(*result, begin);
  }
  return result;
}

}  // namespace commitd::sql
