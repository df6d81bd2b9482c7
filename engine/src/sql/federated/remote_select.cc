#include "sql/federated/remote_select.h"

#include <algorithm>

#include <fmt/format.h>

#include "sql/expression/conversion.h"

namespace commitd::sql {
namespace {

using Kind = Value::Kind;

// A longer condition costs more than the rows that it keeps away.
constexpr size_t kMostRanges = 1000;

std::string name_text(std::string_view name) {
  std::string text = "`";
  for (const char c : name) text.append(c == '`' ? 2 : 1, c);
  return text + "`";
}

// Under sql_mode = ''.
std::string quoted(std::string_view value) {
  std::string text = "'";
  for (const char c : value) {
    if (c == '\0') {
      text += "\\0";
      continue;
    }
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  return text + "'";
}

std::string hexadecimal(std::string_view bytes) {
  std::string text = "X'";
  for (const char c : bytes) fmt::format_to(std::back_inserter(text), "{:02X}", static_cast<uint8_t>(c));
  return text + "'";
}

std::string literal(const Value& value) {
  switch (value.kind()) {
    case Kind::String:
      return value.is_binary() ? hexadecimal(value.as_string()) : quoted(value.as_string());
    case Kind::Temporal:
      return quoted(value.to_text());
    default:
      return value.to_text();
  }
}

// Digits of a floating-point number are lost as text, so that '=' there means another number.
bool is_told_exactly(const ColumnDef& column) {
  return column.type != FieldType::Float && column.type != FieldType::Double &&
         column.type != FieldType::Json;
}

class RangeText {
 public:
  RangeText(const TableDef& table, const IndexDef& index, const txn::IndexRange& range)
      : table_(table), index_(index), range_(range) {}

  // Empty: says nothing about the rows.
  std::string text() {
    const size_t lower = range_.lower ? range_.lower->values.size() : 0;
    const size_t upper = range_.upper ? range_.upper->values.size() : 0;
    size_t part = 0;
    for (; part < std::min(lower, upper) && same(part); ++part) {
      const Value& value = range_.lower->values[part];
      add(part, value.is_null() ? "IS NULL" : "= " + literal(value));
    }
    // The fixed ones are followed by one column with two ends at most.
    if (part < lower) add_end(part, *range_.lower, ">");
    if (part < upper) add_end(part, *range_.upper, "<");
    return std::move(text_);
  }

 private:
  bool same(size_t part) const {
    return order_values(range_.lower->values[part], range_.upper->values[part], column(part).collation) == 0;
  }
  const ColumnDef& column(size_t part) const { return table_.columns[index_.columns[part].column]; }
  void add_end(size_t part, const txn::Bound& end, std::string_view comparison) {
    const Value& value = end.values[part];
    if (!value.is_null())
      add(part, fmt::format("{}{} {}", comparison, end.inclusive ? "=" : "", literal(value)));
  }
  void add(size_t part, const std::string& condition) {
    if (!is_told_exactly(column(part))) return;
    text_ += fmt::format("{}{} {}", text_.empty() ? "" : " AND ", name_text(column(part).name), condition);
  }

  const TableDef& table_;
  const IndexDef& index_;
  const txn::IndexRange& range_;
  std::string text_;
};

std::string condition_text(const TableDef& table, const IndexDef& index,
                           std::span<const txn::IndexRange> ranges) {
  if (ranges.size() > kMostRanges) return {};
  std::string text;
  for (const txn::IndexRange& range : ranges) {
    const std::string one = RangeText(table, index, range).text();
    if (one.empty()) return {};
    text += text.empty() ? "" : " OR ";
    text += ranges.size() > 1 ? "(" + one + ")" : one;
  }
  return text;
}

// A FLOAT as text has fewer digits than its value.
std::string column_text(const ColumnDef& column) {
  return column.type == FieldType::Float ? name_text(column.name) + " + 0e0" : name_text(column.name);
}

}  // namespace

std::vector<size_t> remote_columns(const TableDef& table, const std::optional<std::vector<bool>>& wanted) {
  std::vector<size_t> columns;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (!wanted || (i < wanted->size() && (*wanted)[i])) columns.push_back(i);
  }
  if (columns.empty()) columns.push_back(0);
  return columns;
}

std::string remote_select(const TableDef& table, const storage::RemoteTable& at,
                          std::span<const size_t> columns, const IndexDef& index,
                          std::span<const txn::IndexRange> ranges) {
  std::string text = "SELECT ";
  for (const size_t column : columns)
    text += (column == columns.front() ? "" : ", ") + column_text(table.columns[column]);
  text += fmt::format(" FROM {}.{}", name_text(at.db), name_text(at.table));
  if (const std::string condition = condition_text(table, index, ranges); !condition.empty())
    text += " WHERE " + condition;
  return text;
}

}  // namespace commitd::sql
