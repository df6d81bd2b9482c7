#include "storage/record/wanted_columns.h"

#include <gtest/gtest.h>

#include "storage/record/random_rows.h"

namespace commitd {
namespace {

std::vector<std::string> texts(const Row& row) {
  std::vector<std::string> out;
  for (const Value& value : row) out.push_back(value.to_text());
  return out;
}

TEST(WantedColumns, AreReadAndTheOthersLeftAlone) {
  const TableDef table = testing::table_of_every_type();
  std::mt19937_64 random(13);
  const Value untouched = Value::string("untouched");
  for (int i = 0; i < 500; ++i) {
    const Row row = testing::random_row(table, random);
    std::string image;
    encode_row_image(table, row, image);
    std::vector<bool> wanted(random() % (row.size() + 1));
    for (size_t column = 0; column < wanted.size(); ++column) wanted[column] = random() % 2 == 0;
    Row read(row.size(), untouched), expected = read;
    for (size_t column = 0; column < wanted.size(); ++column) {
      if (wanted[column]) expected[column] = row[column];
    }
    ASSERT_TRUE(WantedColumns(table, wanted).decode(image, read).ok());
    EXPECT_EQ(texts(read), texts(expected));
  }
}

TEST(WantedColumns, CutOffImagesAreRefused) {
  const TableDef table = testing::table_of_every_type();
  std::mt19937_64 random(14);
  std::string image;
  encode_row_image(table, testing::random_row(table, random), image);
  const WantedColumns reader(table, std::vector<bool>(table.columns.size(), true));
  Row row;
  for (size_t length = 0; length < image.size(); ++length)
    EXPECT_FALSE(reader.decode(std::string_view(image).substr(0, length), row).ok());
}

TEST(WantedColumns, KeepNothingOfTheRowBefore) {
  const TableDef table = testing::table_of_every_type();
  std::mt19937_64 random(15);
  const WantedColumns reader(table, std::vector<bool>(table.columns.size(), true));
  Row read;
  for (int i = 0; i < 500; ++i) {
    const Row row = testing::random_row(table, random);
    std::string image;
    encode_row_image(table, row, image);
    ASSERT_TRUE(reader.decode(image, read).ok());
    const auto whole = decode_row_image(table, image);
    ASSERT_TRUE(whole.ok());
    EXPECT_EQ(texts(read), texts(*whole));
    for (size_t column = 0; column < read.size(); ++column) {
      EXPECT_EQ(read[column].kind(), (*whole)[column].kind());
      EXPECT_EQ(read[column].is_binary(), (*whole)[column].is_binary());
      EXPECT_EQ(read[column].as_string(), (*whole)[column].as_string());
    }
  }
}

}  // namespace
}  // namespace commitd
