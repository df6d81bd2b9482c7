#include "storage/record/random_rows.h"

#include "base/charset/collation.h"
#include "base/decimal.h"
#include "base/temporal.h"
#include "storage/record/column_format.h"

namespace commitd::testing {

namespace {

ColumnDef column(std::string name, FieldType type, uint32_t length = 0, uint8_t decimals = 0,
                 uint16_t collation = 63) {
  ColumnDef def;
  def.name = std::move(name);
  def.type = type;
  def.length = length;
  def.decimals = decimals;
  def.collation = collation;
  return def;
}

void add_integers(TableDef& table) {
  for (const FieldType type :
       {FieldType::Tiny, FieldType::Short, FieldType::Int24, FieldType::Long, FieldType::LongLong}) {
    for (const bool is_unsigned : {false, true}) {
      ColumnDef def = column("i" + std::to_string(table.columns.size()), type);
      def.is_unsigned = is_unsigned;
      table.columns.push_back(def);
    }
  }
}

void add_temporals(TableDef& table) {
  table.columns.push_back(column("date", FieldType::Date));
  for (uint8_t fsp = 0; fsp <= 6; ++fsp) {
    table.columns.push_back(column("time" + std::to_string(fsp), FieldType::Time, 0, fsp));
    table.columns.push_back(column("datetime" + std::to_string(fsp), FieldType::DateTime, 0, fsp));
    table.columns.push_back(column("timestamp" + std::to_string(fsp), FieldType::Timestamp, 0, fsp));
  }
}

void add_strings(TableDef& table) {
  table.columns.push_back(column("char_ci", FieldType::String, 10, 0, 45));
  table.columns.push_back(column("char_long", FieldType::String, 200, 0, 45));
  table.columns.push_back(column("varchar_short", FieldType::VarChar, 20, 0, 46));
  table.columns.push_back(column("varchar_long", FieldType::VarChar, 300, 0, 45));
  table.columns.push_back(column("latin1", FieldType::VarChar, 30, 0, 8));
  table.columns.push_back(column("binary", FieldType::String, 12));
  table.columns.push_back(column("varbinary", FieldType::VarChar, 40));
  for (const FieldType type :
       {FieldType::TinyBlob, FieldType::Blob, FieldType::MediumBlob, FieldType::LongBlob}) {
    table.columns.push_back(column("blob" + std::to_string(table.columns.size()), type));
    table.columns.push_back(column("text" + std::to_string(table.columns.size()), type, 0, 0, 45));
  }
}

int64_t random_in(std::mt19937_64& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

Value random_integer(const ColumnDef& def, std::mt19937_64& random) {
  const size_t bits = 8 * number_size(def);
  // Small numbers as often as any, so that equal values and both signs occur.
  const uint64_t raw = random() % 2 == 0 ? random() : random() % 8 - 4;
  if (def.is_unsigned) return Value::unsigned_integer(raw << (64 - bits) >> (64 - bits));
  return Value::integer(static_cast<int64_t>(raw << (64 - bits)) >> (64 - bits));
}

Temporal random_temporal(const ColumnDef& def, std::mt19937_64& random) {
  Temporal value;
  if (def.type == FieldType::Time) {
    value.kind = Temporal::Kind::Time;
    value.hour = static_cast<uint32_t>(random_in(random, 0, 837));
    value.minute = static_cast<uint8_t>(random_in(random, 0, 59));
    value.second = static_cast<uint8_t>(random_in(random, 0, 59));
    value.microsecond = static_cast<uint32_t>(random_in(random, 0, 999'999));
    value = round_fraction(value, def.decimals);
    value.negative = random() % 2 == 0 && pack(value) != 0;
    return value;
  }
  const bool timestamp = def.type == FieldType::Timestamp;
  const int64_t seconds =
      timestamp ? random_in(random, 1, 2'147'483'646) : random_in(random, -30'000'000'000, 250'000'000'000);
  value = round_fraction(datetime_from_unix(seconds, static_cast<uint32_t>(random_in(random, 0, 999'999)), 6),
                         def.decimals);
  if (def.type != FieldType::Date) return value;
  Temporal date = date_from_day_number(day_number(value.year, value.month, value.day));
  return date;
}

std::string random_text(const ColumnDef& def, std::mt19937_64& random) {
  static const std::vector<std::string> kPieces = {"a", "B", "é", " ", "ß", "z9", "Ω"};
  static const std::vector<std::string> kLatinPieces = {"a", "B", "é", " ", "ß", "z", "€"};
  const auto& pieces = def.collation == 8 ? kLatinPieces : kPieces;
  std::string text;
  for (int64_t count = random_in(random, 0, 5); count > 0; --count) text += pieces[random() % pieces.size()];
  while (def.type == FieldType::String && !text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string random_bytes(const ColumnDef& def, std::mt19937_64& random) {
  std::string bytes;
  for (int64_t count = random_in(random, 0, 12); count > 0; --count)
    bytes.push_back(static_cast<char>(random() % 3));
  if (def.type == FieldType::String) bytes.resize(def.length, '\0');
  return bytes;
}

}  // namespace

TableDef table_of_every_type() {
  TableDef table;
  table.db = "test";
  table.name = "every_type";
  table.indexes.push_back({1001, "hidden", {}, true, false, {}});
  add_integers(table);
  table.columns.push_back(column("float", FieldType::Float));
  table.columns.push_back(column("double", FieldType::Double));
  table.columns.push_back(column("decimal", FieldType::NewDecimal, 12, 4));
  table.columns.push_back(column("decimal_wide", FieldType::NewDecimal, 38, 20));
  table.columns.push_back(column("year", FieldType::Year));
  table.columns.push_back(column("bit", FieldType::Bit, 13));
  add_temporals(table);
  add_strings(table);
  table.columns.push_back(column("enum", FieldType::Enum, 0, 0, 45));
  table.columns.back().labels = {"small", "medium", "large"};
  table.columns.push_back(column("set", FieldType::Set, 0, 0, 45));
  table.columns.back().labels = {"a", "b", "c", "d"};
  return table;
}

Value random_value(const ColumnDef& def, std::mt19937_64& random) {
  switch (def.type) {
    case FieldType::Tiny:
    case FieldType::Short:
    case FieldType::Int24:
    case FieldType::Long:
    case FieldType::LongLong:
      return random_integer(def, random);
    case FieldType::Float:
      return Value::real_single(static_cast<float>(random_in(random, -1000, 1000)) / 8);
    case FieldType::Double:
      return Value::real(static_cast<double>(random_in(random, -1'000'000, 1'000'000)) / 7);
    case FieldType::NewDecimal:
      return Value::decimal({random_in(random, -99'999'999, 99'999'999), def.decimals});
    case FieldType::Year:
      return Value::unsigned_integer(
          random() % 5 == 0 ? 0 : static_cast<uint64_t>(random_in(random, 1901, 2155)));
    case FieldType::Bit:
      return Value::unsigned_integer(random() % 8192);
    case FieldType::Date:
    case FieldType::Time:
    case FieldType::DateTime:
    case FieldType::Timestamp:
      return Value::temporal(random_temporal(def, random));
    case FieldType::Enum:
      return Value::string(def.labels[random() % def.labels.size()]);
    case FieldType::Set:
      return Value::string(random() % 2 == 0 ? "" : random() % 2 == 0 ? "a,c" : "b,c,d");
    default:
      return def.collation == kBinaryCollation ? Value::string(random_bytes(def, random), true)
                                               : Value::string(random_text(def, random));
  }
}

Row random_row(const TableDef& table, std::mt19937_64& random) {
  Row row;
  for (const ColumnDef& def : table.columns)
    row.push_back(random() % 6 == 0 ? Value::null() : random_value(def, random));
  return row;
}

int compare_values(const ColumnDef& def, const Value& left, const Value& right) {
  const auto order = [](auto l, auto r) { return l < r ? -1 : l > r ? 1 : 0; };
  if (left.is_null() || right.is_null()) return order(!left.is_null(), !right.is_null());
  switch (left.kind()) {
    case Value::Kind::Int:
      return order(left.as_int(), right.as_int());
    case Value::Kind::UInt:
      return order(left.as_uint(), right.as_uint());
    case Value::Kind::Double:
      return order(left.as_double(), right.as_double());
    case Value::Kind::Decimal:
      return compare(left.as_decimal(), right.as_decimal()) < 0   ? -1
             : compare(left.as_decimal(), right.as_decimal()) > 0 ? 1
                                                                  : 0;
    case Value::Kind::Temporal:
      return order(pack(left.as_temporal()), pack(right.as_temporal()));
    default:
      if (!def.labels.empty()) return order(label_number(def, left), label_number(def, right));
      return order(compare(collation_or_binary(def.collation), left.as_string(), right.as_string()), 0);
  }
}

}  // namespace commitd::testing
