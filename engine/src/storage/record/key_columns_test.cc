#include "storage/record/key_columns.h"

#include <gtest/gtest.h>

#include "storage/record/key_codec.h"
#include "storage/record/random_rows.h"

namespace commitd {
namespace {

// An index over each column alone, the first being the primary key.
TableDef table_with_keys(size_t indexed_columns) {
  TableDef table = testing::table_of_every_type();
  table.indexes.clear();
  for (size_t i = 0; i < indexed_columns; ++i) {
    IndexDef index;
    index.id = static_cast<uint32_t>(1000 + i);
    index.primary = index.unique = i == 0;
    index.columns = {{static_cast<uint16_t>(i), 0}};
    table.indexes.push_back(index);
  }
  return table;
}

std::string all_keys(const TableDef& table, const Row& row) {
  std::string keys = clustered_key(table, row, 0);
  for (const IndexDef& index : table.indexes) keys += secondary_key(table, index, row, "suffix");
  return keys;
}

TEST(KeyColumns, WhatIsReadMakesTheSameKeysAsTheWholeRow) {
  std::mt19937_64 random(21);
  Row read;  // used again and again, as replay does: what one row left must not get into another's keys
  for (size_t indexed : {size_t{1}, size_t{5}, testing::table_of_every_type().columns.size()}) {
    const TableDef table = table_with_keys(indexed);
    const KeyColumns keys(table);
    for (int i = 0; i < 300; ++i) {
      const Row row = testing::random_row(table, random);
      std::string image;
      encode_row_image(table, row, image);
      const auto length = keys.decode_leading(table, image + "more bytes", read);
      ASSERT_TRUE(length.ok());
      EXPECT_EQ(*length, image.size());
      EXPECT_EQ(all_keys(table, read), all_keys(table, row));
    }
  }
}

TEST(KeyColumns, OthersAreNotDecoded) {
  TableDef table = table_with_keys(1);
  table.columns[2].auto_increment = true;
  std::mt19937_64 random(22);
  std::string image;
  encode_row_image(table, testing::random_row(table, random), image);
  Row read(table.columns.size(), Value::string("untouched"));
  ASSERT_TRUE(KeyColumns(table).decode_leading(table, image, read).ok());
  for (size_t i = 0; i < read.size(); ++i)
    EXPECT_EQ(read[i].to_text() == "untouched", i != 0 && i != 2) << "column " << i;
}

}  // namespace
}  // namespace commitd
