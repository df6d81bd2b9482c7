#include "storage/record/wanted_columns.h"

#include <gtest/gtest.h>

#include <algorithm>

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

// Two integers and a text, as in the tables that most scans read: where they lie in an image is known before.
TableDef few_columns() {
  TableDef table = testing::table_of_every_type();
  const auto text = std::find_if(table.columns.begin(), table.columns.end(),
                                 [](const ColumnDef& column) { return column.name == "char_long"; });
  table.columns = {table.columns[6], table.columns[1], *text};
  return table;
}

TEST(WantedColumns, AreFoundAtTheirPlaces) {
  const TableDef table = few_columns();
  std::mt19937_64 random(16);
  for (int i = 0; i < 500; ++i) {
    const Row row = testing::random_row(table, random);
    std::string image;
    encode_row_image(table, row, image);
    for (unsigned bits = 1; bits < 8; ++bits) {
      std::vector<bool> wanted;
      for (size_t column = 0; bits >> column != 0; ++column) wanted.push_back((bits >> column & 1) != 0);
      const WantedColumns reader(table, wanted);
      Row read(row.size(), Value::string("untouched")), expected = read;
      for (size_t column = 0; column < wanted.size(); ++column) {
        if (wanted[column]) expected[column] = row[column];
      }
      ASSERT_TRUE(reader.decode(image, read).ok());
      ASSERT_EQ(texts(read), texts(expected));
      const bool to_the_end = wanted.size() == row.size();
      for (size_t length = 0; to_the_end && length < image.size(); ++length)
        ASSERT_FALSE(reader.decode(std::string_view(image).substr(0, length), read).ok());
    }
  }
}

TEST(WantedColumns, RowsOfEarlierVersionsAreWidened) {
  TableDef before = few_columns();
  before.columns.pop_back();
  TableDef after = few_columns();
  after.columns[2].added_in_version = 3;
  after.columns[2].fill_value = Value::string("added");
  for (const uint32_t later : {3u, 4u, 127u, 128u, 300u}) {
    after.version = later;
    const WantedColumns reader(after, {true, false, true});
    std::string image, widened;
    Row read;
    encode_row_image(before, Row{Value::integer(7), Value::unsigned_integer(8)}, image);
    for (before.version = 1; before.version < 3; ++before.version) {
      ASSERT_TRUE(reader.decode_stored(stored_row(before, image), widened, read).ok());
      EXPECT_EQ(read[0].to_text(), "7");
      EXPECT_EQ(read[2].to_text(), "added") << before.version << " " << later;
    }
    image.clear();
    encode_row_image(after, Row{Value::integer(7), Value::unsigned_integer(8), Value::string("new")}, image);
    ASSERT_TRUE(reader.decode_stored(stored_row(after, image), widened, read).ok());
    EXPECT_EQ(read[2].to_text(), "new") << later;
    EXPECT_FALSE(reader.decode_stored({}, widened, read).ok());
  }
}

}  // namespace
}  // namespace commitd
