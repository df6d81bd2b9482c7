#include "storage/record/key_codec.h"

#include <gtest/gtest.h>

#include "storage/record/random_rows.h"
#include "storage/record/row_image.h"

namespace commitd {
namespace {

int sign(int number) {
  return (number > 0) - (number < 0);
}

std::string key_of(const ColumnDef& column, const Value& value) {
  std::string key;
  append_key_column(key, column, IndexColumn{}, value);
  return key;
}

TEST(KeyCodec, KeysOrderAsTheirValuesForEveryType) {
  const TableDef table = testing::table_of_every_type();
  std::mt19937_64 random(21);
  for (const ColumnDef& column : table.columns) {
    for (int i = 0; i < 3000; ++i) {
      const Value left = random() % 20 == 0 ? Value::null() : testing::random_value(column, random);
      const Value right = random() % 20 == 0 ? Value::null() : testing::random_value(column, random);
      ASSERT_EQ(sign(key_of(column, left).compare(key_of(column, right))),
                testing::compare_values(column, left, right))
          << column.name << ": " << left.to_text() << " | " << right.to_text();
    }
  }
}

// (a, b) keys order by a first and by b among equal a: no column's bytes may spill into the next one's.
TEST(KeyCodec, ColumnsOfAKeyDoNotMixUp) {
  const TableDef table = testing::table_of_every_type();
  std::mt19937_64 random(22);
  for (int i = 0; i < 50'000; ++i) {
    const ColumnDef& first = table.columns[random() % table.columns.size()];
    const ColumnDef& second = table.columns[random() % table.columns.size()];
    const Value a1 = testing::random_value(first, random),
                a2 = random() % 2 == 0 ? a1 : testing::random_value(first, random);
    const Value b1 = testing::random_value(second, random), b2 = testing::random_value(second, random);
    const int by_first = testing::compare_values(first, a1, a2);
    const int expected = by_first != 0 ? by_first : testing::compare_values(second, b1, b2);
    const std::string left = key_of(first, a1) + key_of(second, b1),
                      right = key_of(first, a2) + key_of(second, b2);
    ASSERT_EQ(sign(left.compare(right)), expected) << first.name << ", " << second.name;
  }
}

TableDef people() {
  TableDef table;
  table.columns.resize(3);
  table.columns[0].type = FieldType::Long;
  table.columns[0].nullable = false;
  table.columns[1].type = FieldType::VarChar;
  table.columns[1].length = 20;
  table.columns[1].collation = 45;
  table.columns[2].type = FieldType::Long;
  table.indexes = {{1000, "PRIMARY", {{0, 0}}, true, true, {}},
                   {1001, "name", {{1, 0}}, true, false, {}},
                   {1002, "age", {{2, 0}}, false, false, {}}};
  return table;
}

TEST(KeyCodec, SecondaryEntriesLeadBackToTheirRow) {
  const TableDef table = people();
  for (const Row& row : {Row{Value::integer(5), Value::string("Eve"), Value::integer(30)},
                         Row{Value::integer(-6), Value::null(), Value::null()}}) {
    const std::string clustered = clustered_key(table, row, 0);
    const std::string_view suffix = clustered_suffix(clustered);
    for (size_t i = 1; i < table.indexes.size(); ++i) {
      const IndexDef& index = table.indexes[i];
      const std::string key = secondary_key(table, index, row, suffix);
      const std::string value = secondary_value(!enforces_uniqueness(table, index, row), suffix);
      EXPECT_EQ(clustered_key_of_entry(table, key, value), clustered);
    }
  }
}

TEST(KeyCodec, UniqueKeysCollideAsTheirCollationSaysButNullsNever) {
  const TableDef table = people();
  const IndexDef& name = table.indexes[1];
  const Row eve{Value::integer(1), Value::string("Eve"), Value::null()};
  const Row same{Value::integer(2), Value::string("EVÉ "), Value::null()};
  const Row nobody{Value::integer(3), Value::null(), Value::null()};
  EXPECT_EQ(secondary_key(table, name, eve, "1"), secondary_key(table, name, same, "2"));
  EXPECT_NE(secondary_key(table, name, nobody, "3"), secondary_key(table, name, nobody, "4"));
  EXPECT_FALSE(enforces_uniqueness(table, name, nobody));
}

TEST(KeyCodec, PrefixEndIsTheLeastKeyBehindAPrefix) {
  EXPECT_EQ(prefix_end("ab"), "ac");
  EXPECT_EQ(prefix_end("a\xFF\xFF"), "b");
  EXPECT_EQ(prefix_end("\xFF"), "");
}

TEST(KeyCodec, PrefixIndexesCountCharacters) {
  TableDef table = people();
  std::string left, right;
  append_key_column(left, table.columns[1], IndexColumn{1, 2}, Value::string("éaX"));
  append_key_column(right, table.columns[1], IndexColumn{1, 2}, Value::string("EAY"));
  EXPECT_EQ(left, right);
}

}  // namespace
}  // namespace commitd
