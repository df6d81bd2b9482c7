#include "expressions.h"

#include <array>
#include <charconv>
#include <string_view>

#include "base/decimal.h"

namespace commitd::fuzz {
namespace {

constexpr std::array<std::string_view, 9> kComparisons = {"=", "=", "=", "<", "<=", ">", ">=", "<>", "<=>"};
constexpr std::array<std::string_view, 7> kPatterns = {"'a%'", "'%b'", "'_'", "'%'", "'A_'", "'1%'", "''"};

// The value that a literal's text stands for, where that is plain.
std::optional<Value> plain_value(std::string_view text) {
  if (text.starts_with('\'')) {
    const std::string_view inside = text.substr(1, text.size() - 2);
    if (inside.find_first_of("\\'") != std::string_view::npos) return std::nullopt;
    return Value::string(std::string(inside));
  }
  int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem == std::errc() && end == text.data() + text.size()) return Value::integer(number);
  if (text.find_first_not_of("-.0123456789") != std::string_view::npos ||
      text.find('.') == std::string_view::npos)
    return std::nullopt;
  if (const auto decimal = parse_decimal(text)) return Value::decimal(*decimal);
  return std::nullopt;
}

}  // namespace

Expressions::Place Expressions::column(const std::vector<Named>& from) {
  const Named& named = choices_.of(from);
  const Table& table = *named.table;
  // A plan hangs on these.
  if (!table.leading.empty() && choices_.one_in(3))
    return {&named, &table.columns[choices_.of(table.leading)]};
  return {&named, &choices_.of(table.columns)};
}

// One of that kind, if it is found soon.
Expressions::Place Expressions::column_like(const std::vector<Named>& from, Kind kind) {
  Place place = column(from);
  for (int tries = 0; tries < 4 && place.column->kind != kind; ++tries) place = column(from);
  return place;
}

std::string Expressions::comparison() {
  return " " + std::string(choices_.of(kComparisons)) + " ";
}

SqlText Expressions::literal(Kind kind) {
  if (choices_.one_in(16)) return "NULL";
  if (choices_.one_in(8)) kind = static_cast<Kind>(choices_.below(static_cast<size_t>(Kind::Json)));
  std::string text = literal_of(kind, choices_);
  if (auto value = plain_value(text)) return SqlText::literal(std::move(text), *std::move(value));
  return text;
}

SqlText Expressions::list(Kind kind) {
  SqlText all = literal(kind);
  for (size_t more = choices_.below(4); more > 0; --more) all += ", " + literal(kind);
  return all;
}

SqlText Expressions::about_column(const std::vector<Named>& from) {
  const Place place = column(from);
  const Kind kind = place.column->kind;
  const std::string negated = choices_.one_in(3) ? " NOT" : "";
  switch (choices_.below(9)) {
    case 0:
      return place.text() + " IS" + negated + " NULL";
    case 1:
      return SqlText(place.text() + negated + " IN (") + list(kind) + ")";
    case 2:
      return SqlText(place.text() + negated + " BETWEEN ") + literal(kind) + " AND " + literal(kind);
    case 3:
      return place.text() + comparison() + column_like(from, kind).text();
    case 4:
      return place.text() + negated + " LIKE " + std::string(choices_.of(kPatterns));
    case 5:
      return literal(kind) + comparison() + place.text();
    default:
      return SqlText(place.text() + comparison()) + literal(kind);
  }
}

// (a, b) beside a row of literals, or several.
SqlText Expressions::about_row(const std::vector<Named>& from) {
  const Place first = column(from), second = column(from);
  const auto row = [&] {
    return "(" + literal(first.column->kind) + ", " + literal(second.column->kind) + ")";
  };
  const SqlText own = "(" + first.text() + ", " + second.text() + ")";
  if (choices_.flip()) return own + comparison() + row();
  return own + (choices_.one_in(3) ? " NOT IN (" : " IN (") + row() + ", " + row() + ")";
}

// (SELECT x.column FROM table x [WHERE …]), which may refer to what is around it.
SqlText Expressions::subquery(const std::vector<Named>& from, Kind kind, size_t depth,
                              std::string_view aggregate) {
  const Named inner{"s" + std::to_string(subqueries_++), &choices_.of(schema_)};
  const std::vector<Named> own = {inner};
  std::vector<Named> all = from;
  all.push_back(inner);
  const std::string item = std::string(aggregate) + "(" + column_like(own, kind).text() + ")";
  SqlText text = "SELECT " + item + " FROM " + inner.table->name + " " + inner.alias;
  switch (choices_.below(3)) {
    case 0:
      text += " WHERE " + condition(own, depth);
      break;
    case 1:
      text += " WHERE " + condition(all, depth);
      break;
    default:
      break;
  }
  return text;
}

SqlText Expressions::about_subquery(const std::vector<Named>& from, size_t depth) {
  const Place place = column(from);
  const Kind kind = place.column->kind;
  const std::string negated = choices_.flip() ? "NOT " : "";
  switch (choices_.below(5)) {
    case 0:
      return SqlText(negated + "EXISTS (") + subquery(from, kind, depth) + ")";
    case 1:
      return SqlText(place.text() + comparison() + (choices_.flip() ? "ANY (" : "ALL (")) +
             subquery(from, kind, depth) + ")";
    case 2:
      return SqlText(place.text() + comparison() + "(") +
             subquery(from, kind, depth, choices_.flip() ? "MIN" : "COUNT") + ")";
    default:
      return SqlText(place.text() + " " + negated + "IN (") + subquery(from, kind, depth) + ")";
  }
}

SqlText Expressions::call(const std::vector<Named>& from, Kind kind, size_t depth) {
  switch (choices_.below(10)) {
    case 0:
      return "COALESCE(" + value(from, kind, depth) + ", " + value(from, kind, depth) + ")";
    case 1:
      return "IF(" + condition(from, depth) + ", " + value(from, kind, depth) + ", " +
             value(from, kind, depth) + ")";
    case 2:
      return "NULLIF(" + value(from, kind, depth) + ", " + value(from, kind, depth) + ")";
    case 3:
      return "CASE " + value(from, kind, depth) + " WHEN " + value(from, kind, depth) + " THEN " +
             value(from, kind, depth) + " ELSE " + value(from, kind, depth) + " END";
    case 4:
      return "(" + value(from, kind, depth) + (choices_.flip() ? " + " : " - ") + value(from, kind, depth) +
             ")";
    case 5:
      return "CONCAT(" + value(from, kind, depth) + ", " + value(from, kind, depth) + ")";
    case 6:
      return (choices_.flip() ? "LENGTH(" : "ABS(") + value(from, kind, depth) + ")";
    case 7:
      return "GREATEST(" + value(from, kind, depth) + ", " + value(from, kind, depth) + ")";
    case 8:
      return "UPPER(" + value(from, kind, depth) + ")";
    default:
      return "(" + value(from, kind, depth) + " % 3)";
  }
}

SqlText Expressions::value(const std::vector<Named>& from, Kind kind, size_t depth) {
  if (depth == 0 || choices_.below(3) != 0) {
    if (choices_.one_in(4)) return literal(kind);
    return column_like(from, kind).text();
  }
  return call(from, kind, depth - 1);
}

SqlText Expressions::condition(const std::vector<Named>& from, size_t depth) {
  if (depth == 0) return about_column(from);
  switch (choices_.below(13)) {
    case 12:
      return about_row(from);
    case 0:
      return "NOT (" + condition(from, depth - 1) + ")";
    case 1:
    case 2:
    case 3:
      return "(" + condition(from, depth - 1) + " AND " + condition(from, depth - 1) + ")";
    case 4:
    case 5:
      return "(" + condition(from, depth - 1) + " OR " + condition(from, depth - 1) + ")";
    case 6:
      return "(" + condition(from, depth - 1) + (choices_.flip() ? " XOR " : " <=> ") +
             condition(from, depth - 1) + ")";
    case 7: {
      constexpr std::array<std::string_view, 4> kTests = {"TRUE", "NOT TRUE", "FALSE", "UNKNOWN"};
      return "(" + condition(from, depth - 1) + ") IS " + std::string(choices_.of(kTests));
    }
    case 8: {
      const Kind kind = column(from).column->kind;
      return "(" + value(from, kind, depth) + comparison() + value(from, kind, depth) + ")";
    }
    case 9:
      return about_subquery(from, depth - 1);
    default:
      return about_column(from);
  }
}

SqlText Expressions::join_condition(const std::vector<Named>& from, const Named& right) {
  const std::vector<Named> own = {right};
  const Place left = column(from);
  SqlText text =
      left.text() + (choices_.one_in(5) ? comparison() : " = ") + column_like(own, left.column->kind).text();
  std::vector<Named> all = from;
  all.push_back(right);
  if (choices_.one_in(3)) text += " AND " + condition(all, 1);
  return text;
}

}  // namespace commitd::fuzz
