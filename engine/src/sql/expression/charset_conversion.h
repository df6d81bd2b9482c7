// Texts in other character sets than UTF-8. In memory they are UTF-8 with the characters of that set only;
// their bytes in it appear where bytes are asked for.
#pragma once

#include "base/charset/collation.h"
#include "sql/expression/expression.h"

namespace commitd::sql {

// CONVERT(x USING charset): what the set does not have becomes '?'. Bytes are taken for characters of the
// set.
ExpressionPtr make_charset_conversion(ExpressionPtr operand, const CharsetInfo& charset);

// Bytes as a text of a character set; nullopt where they are none.
std::optional<std::string> text_of_bytes(std::string_view bytes, Charset charset);
// 1300
Error invalid_characters(std::string_view bytes, const CharsetInfo& charset);

// Whether all characters of a text are in the set; and the text with '?' for those that are not.
bool has_characters_of(std::string_view text, Charset charset);
std::string with_characters_of(std::string_view text, Charset charset);

// Its bytes where an expression is a text whose character set is not UTF-8; any other expression as it is.
ExpressionPtr bytes_of_text(ExpressionPtr expression);

}  // namespace commitd::sql
