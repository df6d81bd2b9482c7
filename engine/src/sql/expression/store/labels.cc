#include "sql/expression/store/kinds.h"

#include "base/charset/collation.h"
#include "sql/expression/conversion.h"
#include "sql/expression/store/problems.h"

namespace commitd::sql::store {
namespace {

using Kind = Value::Kind;

// Blanks at the end of what is stored do not count.
std::string_view without_end_blanks(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

const std::string* find_label(const ColumnDef& column, std::string_view text) {
  const Collation& collation = collation_or_binary(column.collation);
  for (const std::string& label : column.labels) {
    if (compare(collation, label, text) == 0) return &label;
  }
  return nullptr;
}

// Bytes: the label '' is a text (column_format.h).
Value no_label() {
  return Value::string("", true);
}

}  // namespace

Result<Value> store_enum(const ColumnDef& column, const Value& value, StoreContext& context) {
  if (value.kind() == Kind::Json) return store_enum(column, Value::string(value.to_text()), context);
  if (value.kind() != Kind::String) {
    const int64_t number = to_int64(value);
    if (number >= 1 && number <= static_cast<int64_t>(column.labels.size()))
      return Value::string(column.labels[static_cast<size_t>(number) - 1]);
    return adjusted(context, truncated(column, context), no_label());
  }
  const std::string* label = find_label(column, value.as_string());
  if (label == nullptr) label = find_label(column, without_end_blanks(value.as_string()));
  if (label != nullptr) return Value::string(*label);
  return adjusted(context, truncated(column, context), no_label());
}

Result<Value> store_set(const ColumnDef& column, const Value& value, StoreContext& context) {
  if (value.kind() == Kind::Json) return store_set(column, Value::string(value.to_text()), context);
  uint64_t bits = 0;
  bool unknown = false;
  if (value.kind() != Kind::String) {
    bits = to_bits(value);
    unknown = column.labels.size() < 64 && bits >> column.labels.size() != 0;
  } else {
    for (std::string_view rest = value.as_string(); !rest.empty();) {
      const size_t comma = std::min(rest.find(','), rest.size());
      const std::string* label = find_label(column, rest.substr(0, comma));
      if (label == nullptr && comma == rest.size()) label = find_label(column, without_end_blanks(rest));
      if (label == nullptr)
        unknown = true;
      else
        bits |= uint64_t{1} << (label - column.labels.data());
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  std::string text;
  for (size_t i = 0; i < column.labels.size(); ++i) {
    if (bits >> i & 1) text += (text.empty() ? "" : ",") + column.labels[i];
  }
  return unknown ? adjusted(context, truncated(column, context), Value::string(text))
                 : Result<Value>(Value::string(text));
}

}  // namespace commitd::sql::store
