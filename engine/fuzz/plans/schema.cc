#include "schema.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace commitd::fuzz {
namespace {

struct ColumnType {
  Kind kind;
  std::string_view text;
  bool ignores_case = false;
  bool is_long = false;  // an index has a part of it only
  bool has_no_index = false;
};

constexpr ColumnType kTypes[] = {
    {Kind::Integer, "TINYINT"},
    {Kind::Integer, "SMALLINT UNSIGNED"},
    {Kind::Integer, "INT"},
    {Kind::Integer, "INT"},
    {Kind::Integer, "BIGINT"},
    {Kind::Integer, "BIGINT UNSIGNED"},
    {Kind::Decimal, "DECIMAL(8,2)"},
    {Kind::Decimal, "DECIMAL(20,0)"},
    {Kind::Decimal, "DECIMAL(5,5) UNSIGNED"},
    {Kind::Real, "FLOAT"},
    {Kind::Real, "DOUBLE"},
    {Kind::Text, "CHAR(4) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", true},
    {Kind::Text, "VARCHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", true},
    {Kind::Text, "VARCHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", true},  // without trailing blanks
    {Kind::Text, "VARCHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci", true},
    {Kind::Text, "VARCHAR(12) CHARACTER SET latin1", true},
    {Kind::Text, "TEXT", true, true},
    {Kind::Bytes, "BINARY(3)"},
    {Kind::Bytes, "VARBINARY(8)"},
    {Kind::Bytes, "BLOB", false, true},
    {Kind::Date, "DATE"},
    {Kind::DateTime, "DATETIME"},
    {Kind::DateTime, "DATETIME(3)"},
    {Kind::DateTime, "TIMESTAMP"},
    {Kind::Time, "TIME"},
    {Kind::Time, "TIME(2)"},
    {Kind::Year, "YEAR"},
    {Kind::Enum, "ENUM('b','a','B2','')", true},
    {Kind::Set, "SET('x','y','z')", true},
    {Kind::Bit, "BIT(5)"},
    {Kind::Json, "JSON", false, false, true},
};

constexpr std::array<std::string_view, 26> kIntegers = {"0",
                                                        "1",
                                                        "2",
                                                        "3",
                                                        "5",
                                                        "-1",
                                                        "-2",
                                                        "10",
                                                        "100",
                                                        "127",
                                                        "128",
                                                        "-128",
                                                        "255",
                                                        "256",
                                                        "32767",
                                                        "65535",
                                                        "2147483647",
                                                        "2147483648",
                                                        "-2147483648",
                                                        "4294967295",
                                                        "9007199254740993",
                                                        "9223372036854775807",
                                                        "-9223372036854775808",
                                                        "9223372036854775808",
                                                        "18446744073709551615",
                                                        "7"};
constexpr std::array<std::string_view, 14> kDecimals = {"0.0",
                                                        "0.5",
                                                        "1.5",
                                                        "1.50",
                                                        "2.0",
                                                        "-2.5",
                                                        "0.05",
                                                        "123.45",
                                                        "-0.001",
                                                        "0.99999",
                                                        "999999.99",
                                                        "5",
                                                        "12345678901234567890",
                                                        "0.00001"};
constexpr std::array<std::string_view, 12> kReals = {"0e0",   "1e0",  "1.5e0",      "-2.5e0",
                                                     "0.1e0", "1e10", "1e20",       "-1e-5",
                                                     "3e0",   "1e-3", "16777217e0", "(-1 * 0e0)"};
// Some begin alike: an index may have so much of them.
constexpr std::array<std::string_view, 27> kTexts = {
    "''",         "'a'",   "'A'",  "'ab'",  "'AB'",         "'abc'",      "'abd'",
    "'abcd'",     "'ab '", "'b'",  "'B'",   "'a '",         "'\xc3\xa4'", "'\xc3\xa4\x62'",
    "'\xc3\xa9'", "'aba'", "'1'",  "'2'",   "'01'",         "'1a'",       "'1.5'",
    "' 3'",       "'x'",   "'a%'", "'a_b'", "'2020-01-01'", "'0'"};
constexpr std::array<std::string_view, 13> kBytes = {"''",    "'a'",     "'A'",      "'ab'",  "x'00'",
                                                     "x'ff'", "x'0041'", "'1'",      "'abc'", "x'610000'",
                                                     "'abd'", "x'6162'", "x'616200'"};
constexpr std::array<std::string_view, 9> kDates = {"'2020-01-01'", "'2020-01-02'", "'2020-02-29'",
                                                    "'1999-12-31'", "'2038-01-19'", "'9999-12-31'",
                                                    "'1970-01-02'", "'2020-12-31'", "'2019-07-04'"};
constexpr std::array<std::string_view, 9> kDateTimes = {
    "'2020-01-01 00:00:00'",     "'2020-01-01 00:00:01'", "'2020-01-01 12:30:45.678'",
    "'2020-02-29 23:59:59.999'", "'1999-12-31 23:59:59'", "'2037-01-19 03:14:07'",
    "'1970-01-02 00:00:01'",     "'2020-01-02 00:00:00'", "'2020-12-31 10:11:12.5'"};
constexpr std::array<std::string_view, 9> kTimes = {"'00:00:00'",    "'00:00:01'",   "'-00:00:01'",
                                                    "'12:30:45.67'", "'838:59:59'",  "'-838:59:59'",
                                                    "'23:59:59'",    "'10:11:12.5'", "'24:00:00'"};
constexpr std::array<std::string_view, 6> kYears = {"1970", "1999", "2000", "2020", "2155", "1901"};
constexpr std::array<std::string_view, 6> kLabels = {"'a'", "'b'", "'B2'", "''", "'A'", "2"};
constexpr std::array<std::string_view, 7> kMembers = {"'x'", "'y'", "'x,y'", "'x,z'", "''", "'x,y,z'", "3"};
constexpr std::array<std::string_view, 6> kBits = {"0", "1", "b'101'", "31", "b'0'", "16"};
constexpr std::array<std::string_view, 9> kDocuments = {
    "'1'", "'1.0'", "'\"a\"'", "'null'", "'true'", "'[1,2]'", "'{}'", "'{\"k\": 1}'", "'\"1\"'"};

template <size_t N>
std::string one_of(const std::array<std::string_view, N>& list, Choices& choices) {
  return std::string(choices.of(list));
}

Column make_column(const ColumnType& type, size_t number, Choices& choices) {
  Column column;
  column.name = "c" + std::to_string(number);
  column.kind = type.kind;
  column.ignores_case = type.ignores_case;
  column.type = type.text;
  // A date that must not be NULL may be the zero date, which IS NULL finds in a table and not in a derived
  // one.
  const bool nullable = type.kind == Kind::Date || type.kind == Kind::DateTime || !choices.one_in(4);
  column.type += nullable ? " NULL" : " NOT NULL";
  return column;
}

std::string index_part(const ColumnType& type, const Column& column, Choices& choices) {
  std::string part = column.name;
  const bool has_characters = type.kind == Kind::Text || type.kind == Kind::Bytes;
  if (type.is_long || (has_characters && choices.flip()))
    part += "(" + std::to_string(1 + choices.below(3)) + ")";
  if (choices.one_in(4)) part += " DESC";
  return part;
}

std::string make_index(Table& table, const std::vector<const ColumnType*>& types, size_t number,
                       Choices& choices) {
  const bool primary = number == 0 && choices.flip();
  const bool unique = primary || choices.one_in(5);
  std::string parts;
  const size_t count = 1 + choices.below(3);
  std::vector<size_t> used;
  for (size_t i = 0; i < count; ++i) {
    const size_t column = choices.below(table.columns.size());
    const bool nullable =
        table.columns[column].type.ends_with(" NULL") && !table.columns[column].type.ends_with("NOT NULL");
    if (types[column]->has_no_index || std::ranges::find(used, column) != used.end() || (primary && nullable))
      continue;
    if (used.empty()) table.leading.push_back(column);
    used.push_back(column);
    parts += (parts.empty() ? "" : ", ") + index_part(*types[column], table.columns[column], choices);
    table.columns[column].is_unique |= unique;
  }
  if (parts.empty()) return {};
  if (primary) return "PRIMARY KEY (" + parts + ")";
  return (unique ? "UNIQUE KEY k" : "KEY k") + std::to_string(number) + " (" + parts + ")";
}

std::string make_row(const Table& table, Choices& choices) {
  std::string row;
  for (const Column& column : table.columns) {
    row += row.empty() ? "(" : ", ";
    row += choices.one_in(6) ? "NULL" : literal_of(column.kind, choices);
  }
  return row + ")";
}

Table make_table(size_t number, Choices& choices) {
  constexpr size_t kMostColumns = 5, kMostIndexes = 4, kMostRows = 12;
  Table table;
  table.name = "t" + std::to_string(number);
  std::vector<const ColumnType*> types;
  const size_t columns = 2 + choices.below(kMostColumns - 1);
  bool in_memory = choices.flip();
  for (size_t i = 0; i < columns; ++i) {
    types.push_back(&choices.of(kTypes));
    table.columns.push_back(make_column(*types.back(), i, choices));
    in_memory = in_memory && !types.back()->is_long && !types.back()->has_no_index;
  }
  table.engine = in_memory ? "MEMORY" : "ROCKS";
  const size_t indexes = 1 + choices.below(kMostIndexes);
  for (size_t i = 0; i < indexes; ++i) {
    if (std::string index = make_index(table, types, i, choices); !index.empty())
      table.indexes.push_back(std::move(index));
  }
  const size_t rows = choices.below(kMostRows);
  for (size_t i = 0; i < rows; ++i) table.rows.push_back(make_row(table, choices));
  return table;
}

}  // namespace

std::string literal_of(Kind kind, Choices& choices) {
  switch (kind) {
    case Kind::Integer:
      return one_of(kIntegers, choices);
    case Kind::Decimal:
      return one_of(kDecimals, choices);
    case Kind::Real:
      return one_of(kReals, choices);
    case Kind::Text:
      return one_of(kTexts, choices);
    case Kind::Bytes:
      return one_of(kBytes, choices);
    case Kind::Date:
      return one_of(kDates, choices);
    case Kind::DateTime:
      return one_of(kDateTimes, choices);
    case Kind::Time:
      return one_of(kTimes, choices);
    case Kind::Year:
      return one_of(kYears, choices);
    case Kind::Enum:
      return one_of(kLabels, choices);
    case Kind::Set:
      return one_of(kMembers, choices);
    case Kind::Bit:
      return one_of(kBits, choices);
    case Kind::Json:
      return one_of(kDocuments, choices);
  }
  return "NULL";
}

std::string Table::definition(bool with_indexes) const {
  std::string text = "CREATE TABLE " + name + " (";
  for (const Column& column : columns)
    text += (text.ends_with('(') ? "" : ", ") + column.name + " " + column.type;
  if (with_indexes) {
    for (const std::string& index : indexes) text += ", " + index;
  }
  return text + ") ENGINE=" + engine;
}

std::vector<Table> make_schema(Choices& choices) {
  constexpr size_t kMostTables = 3;
  std::vector<Table> tables;
  const size_t count = 1 + choices.below(kMostTables);
  for (size_t i = 0; i < count; ++i) tables.push_back(make_table(i, choices));
  return tables;
}

}  // namespace commitd::fuzz
