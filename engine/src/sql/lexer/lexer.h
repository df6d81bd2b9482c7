// Splits a statement's text into tokens. Comments disappear, but for /*! … */, whose content counts (as in
// MySQL, also with a version number that is not greater than ours).
#pragma once

#include <cstdint>
#include <string_view>

#include "sql/arena.h"
#include "sql/lexer/keywords.h"

namespace commitd::sql {

enum class TokenKind : uint8_t {
  End,
  Identifier,
  QuotedIdentifier,
  String,
  Integer,
  Decimal,
  Float,
  Hex,
  Bits,
  Parameter,
  UserVariable,
  SystemVariable,
  Symbol,
  Invalid,
};

// Symbols of more than one character; the others are their character.
enum class Symbol : uint16_t {
  None = 0,
  LessEqual = 256,
  GreaterEqual,
  NotEqual,
  NullSafeEqual,
  ShiftLeft,
  ShiftRight,
  AndAnd,
  OrOr,
  Assign,
  JsonExtract,
  JsonUnquote,
  Concat,  // || under PIPES_AS_CONCAT
};
constexpr Symbol symbol(char c) {
  return static_cast<Symbol>(static_cast<unsigned char>(c));
}

struct Token {
  TokenKind kind = TokenKind::End;
  Word word = Word::NotAWord;  // Identifier
  Symbol symbol = Symbol::None;
  std::string_view text;        // meaning: unquoted, unescaped; digits of Hex and Bits
  const char* begin = nullptr;  // in the statement's text
  const char* end = nullptr;
};

struct LexerOptions {
  bool ansi_quotes = false;
  bool no_backslash_escapes = false;
  bool pipes_as_concat = false;
  bool high_not_precedence = false;
  bool real_as_float = false;
  bool parameters = true;  // ? is one: in what is prepared, and nowhere else
  // The text was logged, maybe by an earlier version, which cut it at its first and its last word: the
  // comments that it begins or ends in may lack their other end.
  bool logged = false;
  uint8_t open_comments = 0;  // version comments that the text begins in
};
// What a sql_mode says about how texts are read.
LexerOptions lexer_options(uint64_t sql_mode);

class Lexer {
 public:
  Lexer(std::string_view text, Arena& arena, LexerOptions options)
      : at_(text.data()),
        end_(text.data() + text.size()),
        arena_(arena),
        options_(options),
        open_version_comments_(options.open_comments) {
    while (end_ > at_ && end_[-1] == '\0') --end_;  // some clients (mysqlslap) count their terminating NUL
  }
  Token next();
  int open_version_comments() const { return open_version_comments_; }

 private:
  void skip_blanks_and_comments();
  bool skip_comment();
  bool ends_version_comment();
  Token identifier();
  Token number();
  Token quoted(char quote, TokenKind kind);
  Token radix_literal(TokenKind kind, size_t prefix, bool quoted);
  Token variable();
  Token punctuation();
  Token make(TokenKind kind, const char* begin, std::string_view text);
  char peek(size_t ahead = 0) const { return at_ + ahead < end_ ? at_[ahead] : '\0'; }

  const char* at_;
  const char* end_;
  Arena& arena_;
  LexerOptions options_;
  int open_version_comments_;
  bool comment_has_no_end_ = false;
};

}  // namespace commitd::sql
