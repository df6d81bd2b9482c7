#include "storage/record/row_image.h"

#include <gtest/gtest.h>

#include "storage/record/column_format.h"
#include "storage/record/random_rows.h"

namespace commitd {
namespace {

std::string texts(const Row& row) {
  std::string out;
  for (const Value& value : row) out += value.to_text() + "|";
  return out;
}

ColumnDef column(FieldType type, uint32_t length = 0, uint8_t decimals = 0, uint16_t collation = 63) {
  ColumnDef def;
  def.type = type;
  def.length = length;
  def.decimals = decimals;
  def.collation = collation;
  return def;
}

std::string field(const ColumnDef& def, const Value& value) {
  std::string out;
  append_field(out, def, value);
  return out;
}

TEST(RowImage, RowsOfEveryTypeRoundTrip) {
  const TableDef table = testing::table_of_every_type();
  std::mt19937_64 random(11);
  for (int i = 0; i < 2000; ++i) {
    const Row row = testing::random_row(table, random);
    std::string image;
    encode_row_image(table, row, image);
    const auto length = row_image_length(table, image + "more bytes");
    ASSERT_TRUE(length.ok());
    EXPECT_EQ(*length, image.size());
    const auto decoded = decode_row_image(table, image);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(texts(*decoded), texts(row));
  }
}

TEST(RowImage, CutOffImagesAreRefused) {
  const TableDef table = testing::table_of_every_type();
  std::mt19937_64 random(12);
  std::string image;
  encode_row_image(table, testing::random_row(table, random), image);
  for (size_t length = 0; length < image.size(); ++length) {
    const auto result = row_image_length(table, std::string_view(image).substr(0, length));
    EXPECT_TRUE(!result.ok() || *result <= length);
    EXPECT_FALSE(decode_row_image(table, std::string_view(image).substr(0, length)).ok()) << length;
  }
}

TEST(RowImage, NullBitmapHasOneBitPerColumnLowestFirst) {
  TableDef table;
  for (int i = 0; i < 9; ++i) table.columns.push_back(column(FieldType::Tiny));
  Row row(9, Value::integer(1));
  row[0] = row[8] = Value::null();
  std::string image;
  encode_row_image(table, row, image);
  EXPECT_EQ(image, std::string("\x01\x01", 2) + std::string(7, '\x01'));
}

TEST(ColumnFormat, FieldsAreMySqls) {
  EXPECT_EQ(field(column(FieldType::Int24), Value::integer(-2)), "\xFE\xFF\xFF");
  EXPECT_EQ(field(column(FieldType::VarChar, 20, 0, 45), Value::string("é")), "\x02\xC3\xA9");
  EXPECT_EQ(field(column(FieldType::VarChar, 64, 0, 45), Value::string("a")), std::string("\x01\x00\x61", 3));
  EXPECT_EQ(field(column(FieldType::String, 8, 0, 45), Value::string("ab  ")), "\x02\x61\x62");
  EXPECT_EQ(field(column(FieldType::String, 4), Value::string(std::string("a\0\0\0", 4), true)), "\x01\x61");
  EXPECT_EQ(field(column(FieldType::VarChar, 10, 0, 8), Value::string("é€")), "\x02\xE9\x80");
  EXPECT_EQ(field(column(FieldType::Year), Value::unsigned_integer(2026)), "\x7E");
  EXPECT_EQ(field(column(FieldType::Bit, 13), Value::unsigned_integer(0x1234)), "\x12\x34");
  EXPECT_EQ(field(column(FieldType::MediumBlob), Value::string("xy", true)),
            std::string("\x02\x00\x00xy", 5));
}

TEST(ColumnFormat, MetadataIsMySqls) {
  const auto metadata = [](const ColumnDef& def) {
    const ColumnMetadata found = column_metadata(def);
    return std::string(1, static_cast<char>(found.type)) + found.metadata;
  };
  EXPECT_EQ(metadata(column(FieldType::Long)), "\x03");
  EXPECT_EQ(metadata(column(FieldType::VarChar, 100, 0, 45)), std::string("\x0F\x90\x01", 3));
  EXPECT_EQ(metadata(column(FieldType::String, 10, 0, 45)), "\xFE\xFE\x28");
  // CHAR(200) in utf8mb4 is 800 bytes: 0x320, whose bits 8 and 9 go into the type byte.
  EXPECT_EQ(metadata(column(FieldType::String, 200, 0, 45)), "\xFE\xCE\x20");
  EXPECT_EQ(metadata(column(FieldType::NewDecimal, 12, 4)), "\xF6\x0C\x04");
  EXPECT_EQ(metadata(column(FieldType::DateTime, 0, 3)), "\x12\x03");
  EXPECT_EQ(metadata(column(FieldType::LongBlob)), "\xFC\x04");
  EXPECT_EQ(metadata(column(FieldType::Json)), "\xF5\x04");
  EXPECT_EQ(metadata(column(FieldType::Bit, 13)), "\x10\x05\x01");
  ColumnDef size = column(FieldType::Enum);
  size.labels = {"s", "m"};
  EXPECT_EQ(metadata(size), "\xFE\xF7\x01");
}

TEST(RowImage, HasDocumentsInBinaryFormAndNoDamagedOne) {
  TableDef table;
  table.columns = {column(FieldType::Json)};
  const std::string document("\x02\x01\x00\x07\x00\x05\x2a\x00", 8);  // [42]
  std::string image;
  encode_row_image(table, Row{Value::json(document)}, image);
  EXPECT_EQ(image, std::string("\0\x08\0\0\0", 5) + document);
  EXPECT_EQ(texts(*decode_row_image(table, image)), "[42]|");
  image[5] = '\x0e';  // no type of value has this number
  EXPECT_FALSE(row_image_length(table, image).ok());
  EXPECT_FALSE(decode_row_image(table, image).ok());
}

TEST(StoredRow, RowsOfAnOlderVersionGetTheAddedColumns) {
  TableDef old_table;
  old_table.columns = {column(FieldType::Long), column(FieldType::VarChar, 10, 0, 45)};
  std::string image;
  encode_row_image(old_table, Row{Value::integer(7), Value::null()}, image);
  const std::string stored = stored_row(old_table, image);

  TableDef table = old_table;
  table.version = 300;
  for (int i = 0; i < 8; ++i) {
    table.columns.push_back(column(FieldType::Long));
    table.columns.back().added_in_version = 2;
    table.columns.back().fill_value = i == 7 ? Value::null() : Value::integer(100 + i);
  }
  std::string scratch;
  const auto widened = image_of_stored_row(table, stored, scratch);
  ASSERT_TRUE(widened.ok());
  EXPECT_EQ(texts(*decode_row_image(table, *widened)), "7|NULL|100|101|102|103|104|105|106|NULL|");

  std::string new_image;
  encode_row_image(table, *decode_row_image(table, *widened), new_image);
  const std::string new_stored = stored_row(table, new_image);
  EXPECT_EQ(*image_of_stored_row(table, new_stored, scratch), new_image);
}

// MySQL and MariaDB set the bits of the bitmap that no column has, and a replica stores what they send.
TEST(StoredRow, BitsThatWereNobodysMakeNoNewColumnNull) {
  TableDef table;
  table.columns = {column(FieldType::Long), column(FieldType::Long)};
  std::string image;
  encode_row_image(table, Row{Value::integer(7), Value::null()}, image);
  image[0] = static_cast<char>(image[0] | 0xfc);
  const std::string stored = stored_row(table, image);
  table.version = 2;
  table.columns.push_back(column(FieldType::Long));
  table.columns.back().added_in_version = 2;
  table.columns.back().fill_value = Value::integer(100);
  std::string scratch;
  const auto widened = image_of_stored_row(table, stored, scratch);
  ASSERT_TRUE(widened.ok());
  EXPECT_EQ(texts(*decode_row_image(table, *widened)), "7|NULL|100|");
}

TEST(StoredRow, DamageIsAnError) {
  const TableDef table = testing::table_of_every_type();
  std::string scratch;
  EXPECT_FALSE(image_of_stored_row(table, "", scratch).ok());
  EXPECT_FALSE(image_of_stored_row(table, "\xFF", scratch).ok());
}

}  // namespace
}  // namespace commitd
