// A statement's text, of which some literals can become parameters.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"

namespace commitd::fuzz {

class SqlText {
 public:
  SqlText() = default;
  SqlText(const char* text) : pieces_{{text, {}}} {}             // NOLINT(google-explicit-constructor)
  SqlText(std::string text) : pieces_{{std::move(text), {}}} {}  // NOLINT(google-explicit-constructor)
  static SqlText literal(std::string text, Value value) {
    SqlText made;
    made.pieces_.push_back({std::move(text), std::move(value)});
    return made;
  }

  SqlText& operator+=(const SqlText& more) {
    pieces_.insert(pieces_.end(), more.pieces_.begin(), more.pieces_.end());
    return *this;
  }
  friend SqlText operator+(SqlText left, const SqlText& right) { return left += right; }

  std::string text() const {
    std::string all;
    for (const Piece& piece : pieces_) all += piece.text;
    return all;
  }
  std::string with_placeholders() const {
    std::string all;
    for (const Piece& piece : pieces_) all += piece.value ? "?" : piece.text;
    return all;
  }
  std::vector<Value> parameters() const {
    std::vector<Value> values;
    for (const Piece& piece : pieces_) {
      if (piece.value) values.push_back(*piece.value);
    }
    return values;
  }

 private:
  struct Piece {
    std::string text;
    std::optional<Value> value;
  };
  std::vector<Piece> pieces_;
};

}  // namespace commitd::fuzz
