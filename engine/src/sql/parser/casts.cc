// CAST and CONVERT.
#include "base/error_codes.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {

using ast::ExprKind;

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

}  // namespace commitd::sql
