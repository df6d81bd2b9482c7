// Records of tables that earlier versions wrote.
#include "sql/catalog/catalog_codec.h"

#include <gtest/gtest.h>

#include "base/charset/collation.h"

namespace commitd::sql {
namespace {

TableDef table_with_index_on(FieldType type, uint16_t collation) {
  TableDef table;
  table.db = "d";
  table.name = "t";
  ColumnDef column;
  column.name = "c";
  column.type = type;
  column.length = 10;
  column.collation = collation;
  table.columns = {column};
  IndexDef index;
  index.name = "PRIMARY";
  index.columns = {{.column = 0}};
  index.unique = index.primary = true;
  table.indexes = {index};
  return table;
}

// The record as format 3 had it: without the DESC of the one index part and the index's comment, which stand
// in front of the number of checks and CONNECTION=, one byte each when they are empty.
std::string encode_format_3(const TableDef& table) {
  std::string bytes = encode_table(table);
  bytes[0] = 3;
  return bytes.erase(bytes.size() - 4, 2);
}

uint16_t id_of(std::string_view collation) {
  return find_collation(collation)->id;
}

TEST(CatalogCodec, AnIndexInTheFormerOrderOf0900AiCiIsRefused) {
  for (FieldType type : {FieldType::String, FieldType::VarChar, FieldType::VarString, FieldType::TinyBlob,
                         FieldType::LongBlob}) {
    const TableDef table = table_with_index_on(type, id_of("utf8mb4_0900_ai_ci"));
    EXPECT_TRUE(decode_table(encode_table(table)).ok());
    const auto former = decode_table(encode_format_3(table));
    ASSERT_FALSE(former.ok());
    EXPECT_EQ(
        former.error().message,
        "Table `d`.`t` has an index on column `c` that an earlier version wrote in another order of "
        "utf8mb4_0900_ai_ci. Dump the data with the version that wrote it, and load the dump into a new "
        "datadir");
  }
}

TEST(CatalogCodec, OtherTablesOfEarlierVersionsAreRead) {
  EXPECT_TRUE(decode_table(encode_format_3(table_with_index_on(FieldType::VarString, 45))).ok());
  // Labels are indexed by their numbers.
  EXPECT_TRUE(
      decode_table(encode_format_3(table_with_index_on(FieldType::Enum, id_of("utf8mb4_0900_ai_ci")))).ok());
  TableDef table = table_with_index_on(FieldType::VarString, id_of("utf8mb4_0900_ai_ci"));
  ColumnDef number;
  number.name = "n";
  number.type = FieldType::Long;
  table.columns.push_back(number);
  table.indexes[0].columns[0].column = 1;
  EXPECT_TRUE(decode_table(encode_format_3(table)).ok());
}

}  // namespace
}  // namespace commitd::sql
