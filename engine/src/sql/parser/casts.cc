// CAST and CONVERT.
#include "base/error_codes.h"
#include "base/text_case.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {

using ast::ExprKind;

namespace {

constexpr uint64_t kBitsOfFloat = 24, kBitsOfDouble = 53;

std::optional<Error> check_length(const ast::Expr& cast, uint64_t length, uint64_t decimals) {
  constexpr uint64_t kMostFraction = 6, kMostDigits = 65, kMostDecimals = 30;
  const std::string_view operand = cast.arguments[0]->source;
  switch (cast.cast) {
    case ast::CastType::Char:
    case ast::CastType::Binary:
      if (length <= UINT32_MAX) return std::nullopt;
      return make_error(er::kTooBigDisplaywidth, "Display width out of range for column '{}' (max = {})",
                        "cast as char", UINT32_MAX);
    case ast::CastType::Time:
    case ast::CastType::DateTime:
      if (length <= kMostFraction) return std::nullopt;
      return make_error(er::kTooBigPrecision, "Too-big precision {} specified for '{}'. Maximum is {}.",
                        length, operand, kMostFraction);
    case ast::CastType::Float:
      if (length <= kBitsOfDouble) return std::nullopt;
      return make_error(er::kTooBigPrecision, "Too-big precision {} specified for '{}'. Maximum is {}.",
                        length, operand, kBitsOfDouble);
    case ast::CastType::Decimal:
      if (length > kMostDigits)
        return make_error(er::kTooBigPrecision, "Too-big precision {} specified for '{}'. Maximum is {}.",
                          length, operand, kMostDigits);
      if (decimals > kMostDecimals)
        return make_error(er::kTooBigScale, "Too big scale {} specified for column '{}'. Maximum is {}.",
                          decimals, operand, kMostDecimals);
      if (decimals > length)
        return make_error(er::kMBiggerThanD,
                          "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '').");
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

bool takes_length(ast::CastType type) {
  using ast::CastType;
  return type == CastType::Char || type == CastType::Binary || type == CastType::Decimal ||
         type == CastType::Float || type == CastType::Time || type == CastType::DateTime;
}

// What stands in the parentheses of a type.
std::optional<Error> set_length(ast::Expr& cast, uint64_t length, uint64_t decimals) {
  if (auto refused = check_length(cast, length, decimals)) return refused;
  const bool of_time = cast.cast == ast::CastType::DateTime || cast.cast == ast::CastType::Time;
  if (cast.cast == ast::CastType::Float && length > kBitsOfFloat) cast.cast = ast::CastType::Double;
  cast.cast_has_length = true;
  cast.cast_length = static_cast<uint32_t>(length);
  cast.cast_decimals = static_cast<uint8_t>(of_time ? length : decimals);
  return std::nullopt;
}

}  // namespace

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
      cast.cast = options_.real_as_float ? CastType::Float : CastType::Double;
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
  if ((takes_length(cast.cast) || executed_before_) && accept('(')) {
    const uint64_t length = unsigned_number();
    if (cast.cast == CastType::Float && is(',') && !executed_before_) fail();
    if (auto refused = set_length(cast, length, accept(',') ? unsigned_number() : 0)) fail(*refused);
    expect(')');
  }
  const bool named =
      cast.cast == ast::CastType::Char && (is(Word::Charset) || is(Word::Character) || is(Word::Char));
  if (!named) return;
  std::string_view no_collation;
  charset_option(cast.text, no_collation);
  if (equal_words(cast.text, "binary")) cast.cast = ast::CastType::Binary;
}

// CONVERT(… USING charset)
void Grammar::using_charset(ast::Expr& cast) {
  cast.text = string_or_identifier();
  cast.cast = equal_words(cast.text, "binary") ? ast::CastType::Binary : ast::CastType::Char;
}

ast::Expr* Grammar::cast_expression(bool convert) {
  advance();
  expect('(');
  ast::Expr* cast = make(ExprKind::Cast);
  cast->arguments.push_back(expression());
  if (convert && accept(Word::Using)) {
    using_charset(*cast);
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

}  // namespace commitd::sql
