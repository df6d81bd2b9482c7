// JSON as text: parsing it, and MySQL's normal form of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json/node.h"
#include "base/result.h"

namespace commitd::json {

// Why a text is no document. Who gave it decides the message.
struct TextProblem {
  uint16_t code = 0;  // 3140: not JSON; else the document's own fault, 3157 or 3151
  std::string reason;
  size_t position = 0;

  Error in_column(std::string_view column) const;
  Error in_argument(size_t number, std::string_view function) const;
};

// Of members with the same key the last one stays.
std::optional<Node> parse(std::string_view text, TextProblem* problem = nullptr);

// MySQL's normal form: {"a": 1, "b": [1.5, "x"]}.
std::string to_text(const Node& node);
std::string to_pretty_text(const Node& node);  // over several lines
// A text as JSON writes strings, with its quotes.
std::string quoted(std::string_view text);
// A scalar's text without the quotes of a string or a time.
std::string unquoted_text(const Node& node);

// The normal form of a binary document; empty when it is none, which rows that were read never hold: they are
// checked by storage/record.
std::string text_of(std::string_view binary);

}  // namespace commitd::json
