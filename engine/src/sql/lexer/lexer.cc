#include "sql/lexer/lexer.h"

#include <cstdlib>
#include <utility>

#include "sql/variables/system_variables.h"

namespace commitd::sql {
namespace {

constexpr long kVersionOfComments = 80400;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
bool is_identifier_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

char unescape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case '0':
      return '\0';
    case 'b':
      return '\b';
    case 'Z':
      return '\x1a';
    default:
      return c;
  }
}

}  // namespace

LexerOptions lexer_options(uint64_t sql_mode) {
  const auto has = [&](uint64_t mode) { return (sql_mode & mode) != 0; };
  LexerOptions options;
  options.ansi_quotes = has(sql_mode::kAnsiQuotes);
  options.no_backslash_escapes = has(sql_mode::kNoBackslashEscapes);
  options.pipes_as_concat = has(sql_mode::kPipesAsConcat);
  options.high_not_precedence = has(sql_mode::kHighNotPrecedence);
  options.real_as_float = has(sql_mode::kRealAsFloat);
  return options;
}

Token Lexer::make(TokenKind kind, const char* begin, std::string_view text) {
  Token token;
  token.kind = kind;
  token.text = text;
  token.begin = begin;
  token.end = at_;
  return token;
}

bool Lexer::ends_version_comment() {
  if (open_version_comments_ > 0) {
    --open_version_comments_;
    return true;
  }
  return options_.logged && peek(2) != '*';  // a */* b */ c: a product
}

bool Lexer::skip_comment() {
  const bool to_end_of_line =
      peek() == '#' || (peek() == '-' && peek(1) == '-' && (at_ + 2 >= end_ || is_blank(peek(2))));
  if (to_end_of_line) {
    while (at_ < end_ && *at_ != '\n') ++at_;
    return true;
  }
  if (peek() == '*' && peek(1) == '/' && ends_version_comment()) {
    at_ += 2;
    return true;
  }
  if (peek() != '/' || peek(1) != '*') return false;
  if (peek(2) == '!') {
    const char* digits = at_ + 3;
    long version = 0;
    int count = 0;
    while (digits < end_ && is_digit(*digits) && count < 6) {
      version = version * 10 + (*digits++ - '0');
      ++count;
    }
    if (count < 5) digits = at_ + 3;
    if (count < 5 || version <= kVersionOfComments) {
      at_ = digits;
      ++open_version_comments_;
      return true;
    }
  }
  const std::string_view comment(at_, static_cast<size_t>(end_ - at_));
  const size_t length = comment.find("*/", 2);
  at_ = length == std::string_view::npos ? end_ : at_ + length + 2;
  comment_has_no_end_ |= length == std::string_view::npos;
  return true;
}

void Lexer::skip_blanks_and_comments() {
  for (;;) {
    while (at_ < end_ && is_blank(*at_)) ++at_;
    if (at_ >= end_ || !skip_comment()) return;
  }
}

Token Lexer::identifier() {
  const char* begin = at_;
  while (at_ < end_ && is_identifier_char(*at_)) ++at_;
  Token token = make(TokenKind::Identifier, begin, {begin, static_cast<size_t>(at_ - begin)});
  token.word = find_word(token.text);
  return token;
}

// Digits may also start an identifier (`1a`); "1e5" is a number all the same.
Token Lexer::number() {
  const char* begin = at_;
  while (is_digit(peek())) ++at_;
  TokenKind kind = TokenKind::Integer;
  if (peek() == '.') {
    kind = TokenKind::Decimal;
    ++at_;
    while (is_digit(peek())) ++at_;
  }
  const size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
  if ((peek() == 'e' || peek() == 'E') && is_digit(peek(sign))) {
    kind = TokenKind::Float;
    at_ += sign;
    while (is_digit(peek())) ++at_;
  } else if (kind == TokenKind::Integer && at_ < end_ && is_identifier_char(*at_)) {
    at_ = begin;
    return identifier();
  }
  return make(kind, begin, {begin, static_cast<size_t>(at_ - begin)});
}

Token Lexer::quoted(char quote, TokenKind kind) {
  const char* begin = at_++;
  const bool backslashes = kind == TokenKind::String && !options_.no_backslash_escapes;
  bool plain = true;
  const char* scan = at_;
  for (; scan < end_; ++scan) {
    if (*scan == '\\' && backslashes) {
      plain = false;
      if (++scan >= end_) break;
    } else if (*scan == quote) {
      if (scan + 1 >= end_ || scan[1] != quote) break;
      plain = false;
      ++scan;
    }
  }
  if (scan >= end_) {
    at_ = end_;
    return make(TokenKind::Invalid, begin, {});
  }
  const std::string_view inside(at_, static_cast<size_t>(scan - at_));
  at_ = scan + 1;
  if (plain) return make(kind, begin, inside);

  char* text = arena_.bytes(inside.size());
  size_t length = 0;
  for (size_t i = 0; i < inside.size(); ++i) {
    char c = inside[i];
    if (c == '\\' && backslashes) {
      c = inside[++i];
      // \% and \_ keep their backslash: they only mean something to LIKE.
      if (c == '%' || c == '_') text[length++] = '\\';
      text[length++] = unescape(c);
      continue;
    }
    if (c == quote) ++i;
    text[length++] = c;
  }
  return make(kind, begin, {text, length});
}

Token Lexer::radix_literal(TokenKind kind, size_t prefix, bool in_quotes) {
  const char* begin = at_;
  const char* digits = at_ + prefix;
  const char* scan = digits;
  while (scan < end_ && (kind == TokenKind::Hex ? is_hex_digit(*scan) : *scan == '0' || *scan == '1')) ++scan;
  if (in_quotes) {
    if (scan >= end_ || *scan != '\'') return identifier();
    at_ = scan + 1;
  } else {
    if (scan == digits || (scan < end_ && is_identifier_char(*scan))) return identifier();
    at_ = scan;
  }
  return make(kind, begin, {digits, static_cast<size_t>(scan - digits)});
}

Token Lexer::variable() {
  const char* begin = at_++;
  if (peek() == '@') {
    ++at_;
    Token token = make(TokenKind::SystemVariable, begin, {});
    return token;
  }
  if (peek() == '`' || peek() == '\'' || peek() == '"') {
    Token token = quoted(peek(), TokenKind::UserVariable);
    token.begin = begin;
    return token;
  }
  const char* name = at_;
  while (at_ < end_ && (is_identifier_char(*at_) || *at_ == '.')) ++at_;
  return make(TokenKind::UserVariable, begin, {name, static_cast<size_t>(at_ - name)});
}

Token Lexer::punctuation() {
  struct Pair {
    char first, second;
    Symbol symbol;
  };
  static constexpr Pair kPairs[] = {
      {'<', '=', Symbol::LessEqual}, {'>', '=', Symbol::GreaterEqual}, {'<', '>', Symbol::NotEqual},
      {'!', '=', Symbol::NotEqual},  {'<', '<', Symbol::ShiftLeft},    {'>', '>', Symbol::ShiftRight},
      {'&', '&', Symbol::AndAnd},    {'|', '|', Symbol::OrOr},         {':', '=', Symbol::Assign},
  };
  const char* begin = at_;
  Symbol found = symbol(*at_);
  size_t length = 1;
  if (peek() == '<' && peek(1) == '=' && peek(2) == '>') {
    found = Symbol::NullSafeEqual;
    length = 3;
  } else if (peek() == '-' && peek(1) == '>') {
    found = peek(2) == '>' ? Symbol::JsonUnquote : Symbol::JsonExtract;
    length = peek(2) == '>' ? 3 : 2;
  } else {
    for (const Pair& pair : kPairs) {
      if (peek() == pair.first && peek(1) == pair.second) {
        found = pair.symbol;
        length = 2;
        break;
      }
    }
  }
  if (found == Symbol::OrOr && options_.pipes_as_concat) found = Symbol::Concat;
  at_ += length;
  const bool parameter = found == symbol('?') && options_.parameters;
  Token token = make(parameter ? TokenKind::Parameter : TokenKind::Symbol, begin, {begin, length});
  token.symbol = found;
  return token;
}

Token Lexer::next() {
  skip_blanks_and_comments();
  if (at_ >= end_) {
    // A version comment may stay open: a statement's text, as it is kept, ends with its last word.
    const bool open = std::exchange(comment_has_no_end_, false) && !options_.logged;
    return make(open ? TokenKind::Invalid : TokenKind::End, at_, {});
  }
  const char c = *at_;
  if (c == '\'' || (c == '"' && !options_.ansi_quotes)) return quoted(c, TokenKind::String);
  if (c == '`' || c == '"') return quoted(c, TokenKind::QuotedIdentifier);
  if (c == '@') return variable();
  if (c == '0' && peek(1) == 'x') return radix_literal(TokenKind::Hex, 2, false);
  if (c == '0' && peek(1) == 'b') return radix_literal(TokenKind::Bits, 2, false);
  if ((c == 'x' || c == 'X') && peek(1) == '\'') return radix_literal(TokenKind::Hex, 2, true);
  if ((c == 'b' || c == 'B') && peek(1) == '\'') return radix_literal(TokenKind::Bits, 2, true);
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
  if (is_identifier_char(c)) return identifier();
  return punctuation();
}

}  // namespace commitd::sql
