#include "sql/expression/store/kinds.h"

#include "base/charset/collation.h"
#include "base/charset/utf8.h"
#include "base/error_codes.h"
#include "base/json/binary.h"
#include "base/json/text.h"
#include "sql/expression/charset_conversion.h"
#include "sql/expression/conversion.h"
#include "sql/expression/store/problems.h"
#include "storage/record/column_format.h"

namespace commitd::sql::store {
namespace {

using Kind = Value::Kind;

bool only_trailing_spaces_cut(std::string_view text, size_t kept) {
  return text.find_first_not_of(' ', kept) == std::string_view::npos;
}

Result<Value> store_binary(const ColumnDef& column, const Value& value, StoreContext& context) {
  std::string bytes = to_text(value);
  const size_t limit = max_column_bytes(column);
  if (bytes.size() > limit) {
    Error error = too_long(column, context);
    bytes.resize(limit);
    return adjusted(context, std::move(error), Value::string(std::move(bytes), true));
  }
  if (column.type == FieldType::String) bytes.resize(limit, '\0');
  return Value::string(std::move(bytes), true);
}

std::string without_last_zeros(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

// A number's text in so many characters: 1e10 where 10000000000 is too long, and fewer digits where it must
// be.
std::string real_within(double number, size_t width) {
  std::string text;
  for (int digits = 16; digits >= 0; --digits) {
    const std::string scientific = fmt::format("{:.{}e}", number, digits);
    const size_t exponent = scientific.find('e');
    const int power = std::atoi(scientific.c_str() + exponent + 1);
    if (power >= -4 && power < 15 && digits >= power) {
      text = without_last_zeros(fmt::format("{:.{}f}", number, digits - power));
      if (text.size() <= width) break;
    }
    text = fmt::format("{}e{}", without_last_zeros(scientific.substr(0, exponent)), power);
    if (text.size() <= width) break;
  }
  return text;
}

}  // namespace

Result<Value> store_text(const ColumnDef& column, const Value& value, StoreContext& context) {
  if (column.collation == kBinaryCollation) return store_binary(column, value, context);
  const bool blob = is_blob(column.type);
  std::string scratch;
  std::string_view text = text_view(value, scratch);
  if (value.kind() == Kind::Double && !blob && text.size() > column.length)
    text = scratch = real_within(value.as_double(), column.length);
  const Charset charset = collation_or_binary(column.collation).charset;
  const size_t max_bytes = charset_info(charset).max_bytes == 3 ? 3 : 4;
  const size_t valid = valid_utf8_prefix(text, max_bytes);
  if (valid < text.size()) {
    std::string shown;
    for (const char c : text.substr(valid, 6))
      fmt::format_to(std::back_inserter(shown), "\\x{:02X}", static_cast<uint8_t>(c));
    Error error =
        make_error(er::kTruncatedWrongValueForField, "Incorrect string value: '{}' for column '{}' at row {}",
                   shown, column.name, context.row);
    return adjusted(context, std::move(error), Value::string(std::string(text.substr(0, valid))));
  }
  if (!has_characters_of(text, charset)) {
    Error error = incorrect("string", column, value, context);
    auto kept = adjusted(context, std::move(error), Value::null());
    if (!kept.ok()) return kept;
    text = scratch = with_characters_of(text, charset);
  }
  size_t kept = text.size();
  if (blob && kept > max_column_bytes(column))
    kept = valid_utf8_prefix(text.substr(0, max_column_bytes(column)));
  else if (!blob && kept > column.length)
    kept = character_prefix(text, column.length).size();
  Value stored = Value::string(std::string(text.substr(0, kept)));
  if (kept < text.size()) {
    if (!blob && only_trailing_spaces_cut(text, kept)) {
      if (column.type == FieldType::VarChar) context.diagnostics.note(truncated(column, context));
    } else {
      return adjusted(context, too_long(column, context), std::move(stored));
    }
  }
  if (column.type == FieldType::String) {  // CHAR keeps no trailing spaces
    std::string trimmed = stored.as_string();
    trimmed.erase(trimmed.find_last_not_of(' ') + 1);
    return Value::string(std::move(trimmed));
  }
  return stored;
}

// A text is parsed; other values would need a CAST.
Result<Value> store_json(const ColumnDef& column, const Value& value, StoreContext& context) {
  if (value.kind() == Kind::Json) return value;
  const std::string name = fmt::format("{}.{}", context.table, column.name);
  if (value.kind() != Kind::String)
    return json::TextProblem{er::kInvalidJsonText, "not a JSON text, may need CAST", 0}.in_column(name);
  if (value.is_binary())
    return make_error(er::kInvalidJsonCharset,
                      "Cannot create a JSON value from a string with CHARACTER SET 'binary'.");
  json::TextProblem problem;
  const auto document = json::parse(value.as_string(), &problem);
  if (!document) return problem.in_column(name);
  auto binary = json::encode(*document);
  if (!binary.ok()) return std::move(binary).error();
  return Value::json(*std::move(binary));
}

}  // namespace commitd::sql::store
