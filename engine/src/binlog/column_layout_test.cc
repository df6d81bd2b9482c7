#include "binlog/column_layout.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "binlog/event_writer.h"
#include "binlog/table_map.h"

namespace commitd::binlog {
namespace {

struct Type {
  FieldType type;
  uint32_t length = 0;
  uint8_t decimals = 0;
  std::vector<std::string> labels = {};
};

TableDef table_of(const Type& type) {
  TableDef table;
  table.db = "d";
  table.name = "t";
  table.columns.resize(2);
  table.columns[0].type = FieldType::Long;
  ColumnDef& column = table.columns[1];
  column.type = type.type;
  column.length = type.length;
  column.decimals = type.decimals;
  column.labels = type.labels;
  column.collation = 8;  // one byte per character
  return table;
}

std::string check(const Type& here, const Type& there) {
  std::string bytes;
  append_table_map(bytes, {}, table_of(there));
  seal_event(bytes.data(), 4);
  const auto map = parse_table_map_event(*parse_event(bytes), true);
  EXPECT_TRUE(map.ok());
  const Status checked = check_column_layout(table_of(here), *map);
  if (checked.ok()) return "";
  EXPECT_EQ(checked.error().code, er::kReplicaConversionFailed);
  return checked.error().message;
}

TEST(ColumnLayout, WhatStandsTheSameMayDiffer) {
  const std::vector<std::pair<Type, Type>> same = {
      {{FieldType::Double}, {FieldType::Double}},
      {{FieldType::VarChar, 10}, {FieldType::VarChar, 255}},
      {{FieldType::VarChar, 256}, {FieldType::VarChar, 9000}},
      {{FieldType::String, 10}, {FieldType::String, 255}},
      {{FieldType::String, 600}, {FieldType::String, 256}},
      {{FieldType::Bit, 9}, {FieldType::Bit, 16}},
      {{FieldType::Enum, 0, 0, {"a"}}, {FieldType::Enum, 0, 0, {"a", "b"}}},
      {{FieldType::DateTime2, 0, 3}, {FieldType::DateTime2, 0, 3}},
  };
  for (const auto& [one, other] : same) {
    EXPECT_EQ(check(one, other), "");
    EXPECT_EQ(check(other, one), "");
  }
}

TEST(ColumnLayout, WhatDoesNotIsRefused) {
  const std::vector<std::tuple<Type, Type, std::string>> other = {
      {{FieldType::Float}, {FieldType::Double}, "'double' to type 'float'"},
      {{FieldType::Double}, {FieldType::Float}, "'float' to type 'double'"},
      {{FieldType::LongLong}, {FieldType::Long}, "'int' to type 'bigint'"},
      {{FieldType::VarChar, 255},
       {FieldType::VarChar, 256},
       "'varchar(256(bytes))' to type 'varchar(255(bytes))'"},
      {{FieldType::String, 255}, {FieldType::String, 256}, "'char(256(bytes))' to type 'char(255(bytes))'"},
      {{FieldType::String, 1}, {FieldType::Enum, 0, 0, {"a"}}, "'enum of 1 bytes' to type 'char(1(bytes))'"},
      {{FieldType::Set, 0, 0, {"a"}},
       {FieldType::Enum, 0, 0, {"a"}},
       "'enum of 1 bytes' to type 'set of 1 bytes'"},
      {{FieldType::Enum, 0, 0, {"a"}},
       {FieldType::Enum, 0, 0, std::vector<std::string>(300, "x")},
       "'enum of 2 bytes' to type 'enum of 1 bytes'"},
      {{FieldType::Bit, 8}, {FieldType::Bit, 9}, "'bit(9)' to type 'bit(8)'"},
      {{FieldType::NewDecimal, 10, 2},
       {FieldType::NewDecimal, 10, 3},
       "'decimal(10,3)' to type 'decimal(10,2)'"},
      {{FieldType::DateTime2, 0, 0}, {FieldType::DateTime2, 0, 6}, "'datetime(6)' to type 'datetime(0)'"},
      {{FieldType::Blob}, {FieldType::LongBlob}, "'blob of 4 length bytes' to type 'blob of 2 length bytes'"},
      {{FieldType::Blob}, {FieldType::Json}, "'json' to type 'blob of 2 length bytes'"},
      {{FieldType::DateTime2}, {FieldType::Date}, "'date' to type 'datetime(0)'"},
  };
  for (const auto& [here, there, words] : other)
    EXPECT_EQ(check(here, there), "Column 1 of table 'd.t' cannot be converted from type " + words);
}

// Of other servers: types that are not here, and a map that ends too early.
TEST(ColumnLayout, UnknownTypesAreRefused) {
  TableMapEvent map;
  map.types = {static_cast<uint8_t>(FieldType::Long), 255};
  EXPECT_EQ(
      check_column_layout(table_of({FieldType::Blob}), map).error().message,
      "Column 1 of table 'd.t' cannot be converted from type '<unknown type 255>' to type 'blob of 2 length "
      "bytes'");
  map.types[1] = static_cast<uint8_t>(FieldType::Blob);
  EXPECT_FALSE(check_column_layout(table_of({FieldType::Blob}), map).ok());
  map.metadata = "\2";
  EXPECT_TRUE(check_column_layout(table_of({FieldType::Blob}), map).ok());
}

}  // namespace
}  // namespace commitd::binlog
