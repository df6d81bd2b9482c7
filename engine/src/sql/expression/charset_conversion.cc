#include "sql/expression/charset_conversion.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/charset/transcode.h"
#include "base/charset/utf8.h"
#include "base/error_codes.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operands.h"
#include "sql/session_state.h"

namespace commitd::sql {
namespace {

constexpr char32_t kLastAscii = 0x7F, kLastOfUtf8mb3 = 0xFFFF;

// The text with '?' for each character above the last one.
std::string up_to(std::string_view text, char32_t last) {
  std::string result;
  while (!text.empty()) {
    const std::string_view before = text;
    const bool kept = take_character(text) <= last;
    if (kept)
      result.append(before.substr(0, before.size() - text.size()));
    else
      result.push_back('?');
  }
  return result;
}

class CharsetConversion : public OneOperand {
 public:
  CharsetConversion(ExpressionPtr operand, const CharsetInfo& charset)
      : OneOperand(std::move(operand)), charset_(charset) {
    type_ = ValueType::text(operand_->type().length, find_collation(charset.default_collation)->id);
    type_.strength = ValueType::Strength::Column;
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    Value operand_scratch;
    const Value& operand = operand_->evaluate(evaluation, operand_scratch);
    if (operand.is_null())
      scratch = Value::null();
    else if (operand.kind() == Value::Kind::String && operand.is_binary())
      scratch = of_bytes(operand.as_string(), evaluation);
    else
      scratch = Value::string(with_characters_of(to_text(operand, operand_->type()), charset_.charset));
    return scratch;
  }

 private:
  Value of_bytes(const std::string& bytes, Evaluation& evaluation) const {
    if (auto text = text_of_bytes(bytes, charset_.charset)) return Value::string(*std::move(text));
    evaluation.session().diagnostics.warn(invalid_characters(bytes, charset_));
    return Value::null();
  }

  const CharsetInfo& charset_;
};

class BytesOfText : public OneOperand {
 public:
  explicit BytesOfText(ExpressionPtr operand) : OneOperand(std::move(operand)) {
    type_ = operand_->type();
    type_.collation = kBinaryCollation;
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    Value operand_scratch;
    const Value& text = operand_->evaluate(evaluation, operand_scratch);
    if (text.kind() == Value::Kind::String && !text.is_binary())
      scratch = Value::string(latin1_from_utf8(text.as_string()), true);
    else
      scratch = text;
    return scratch;
  }
};

}  // namespace

std::string with_characters_of(std::string_view text, Charset charset) {
  switch (charset) {
    case Charset::Latin1:
      return utf8_from_latin1(latin1_from_utf8(text));
    case Charset::Ascii:
      return up_to(text, kLastAscii);
    case Charset::Utf8mb3:
      return up_to(text, kLastOfUtf8mb3);
    default:
      return std::string(text);
  }
}

bool has_characters_of(std::string_view text, Charset charset) {
  if (charset != Charset::Latin1 && charset != Charset::Ascii) return true;
  const bool all_ascii =
      std::ranges::all_of(text, [](char c) { return static_cast<uint8_t>(c) <= kLastAscii; });
  return all_ascii || with_characters_of(text, charset) == text;
}

std::optional<std::string> text_of_bytes(std::string_view bytes, Charset charset) {
  const auto whole = [&](size_t valid) {
    return valid == bytes.size() ? std::optional(std::string(bytes)) : std::nullopt;
  };
  switch (charset) {
    case Charset::Latin1:
      return utf8_from_latin1(bytes);
    case Charset::Ascii:
      return up_to(bytes, kLastAscii);
    case Charset::Utf8mb3:
      return whole(valid_utf8_prefix(bytes, 3));
    case Charset::Utf8mb4:
      return whole(valid_utf8_prefix(bytes));
    case Charset::Binary:
      break;
  }
  return std::string(bytes);
}

Error invalid_characters(std::string_view bytes, const CharsetInfo& charset) {
  constexpr size_t kMostShown = 6;
  std::string shown;
  for (const char byte : bytes.substr(valid_utf8_prefix(bytes)).substr(0, kMostShown))
    shown += fmt::format("{:02X}", static_cast<uint8_t>(byte));
  return make_error(er::kInvalidCharacterString, "Invalid {} character string: '{}'", charset.name, shown);
}

ExpressionPtr make_charset_conversion(ExpressionPtr operand, const CharsetInfo& charset) {
  return std::make_unique<CharsetConversion>(std::move(operand), charset);
}

ExpressionPtr bytes_of_text(ExpressionPtr expression) {
  const ValueType& type = expression->type();
  if (!type.is_string() || stored_as_utf8(collation_or_binary(type.collation).charset)) return expression;
  return std::make_unique<BytesOfText>(std::move(expression));
}

}  // namespace commitd::sql
