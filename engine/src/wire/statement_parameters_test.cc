#include "wire/statement_parameters.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/error_codes.h"

namespace commitd::wire {
namespace {

// The part of COM_STMT_EXECUTE behind the iteration count, for one parameter.
std::string one_parameter(FieldType type, bool is_unsigned, std::string_view value) {
  std::string packet("\0\1", 2);
  packet.push_back(static_cast<char>(type));
  packet.push_back(is_unsigned ? '\x80' : '\0');
  packet += value;
  return packet;
}

Value decode_one(FieldType type, bool is_unsigned, std::string_view value) {
  auto values = StatementParameters().decode(one_parameter(type, is_unsigned, value), 1);
  EXPECT_TRUE(values.ok());
  return values.ok() ? (*values)[0] : Value::string("<error>");
}

TEST(StatementParameters, IntegersKeepTheirSignAtEveryWidth) {
  EXPECT_EQ(decode_one(FieldType::Tiny, false, "\xff").as_int(), -1);
  EXPECT_EQ(decode_one(FieldType::Tiny, true, "\xff").as_uint(), 255u);
  EXPECT_EQ(decode_one(FieldType::Short, false, "\xfe\xff").as_int(), -2);
  EXPECT_EQ(decode_one(FieldType::Long, false, "\xfd\xff\xff\xff").as_int(), -3);
  EXPECT_EQ(decode_one(FieldType::LongLong, true, "\xff\xff\xff\xff\xff\xff\xff\xff").as_uint(), UINT64_MAX);
}

TEST(StatementParameters, DatesComeInTheirThreeLengths) {
  EXPECT_EQ(decode_one(FieldType::DateTime, false, std::string("\0", 1)).as_temporal().year, 0);
  Temporal date = decode_one(FieldType::Date, false, "\x04\xea\x07\x0b\x15").as_temporal();
  EXPECT_EQ(date.kind, Temporal::Kind::Date);
  EXPECT_EQ(date.year, 2026);
  EXPECT_EQ(date.day, 21);
  Temporal exact = decode_one(FieldType::Timestamp, false,
                              "\x0b\xea\x07\x0b\x15\x01\x02\x03\x40\xe2\x01" + std::string(1, '\0'))
                       .as_temporal();
  EXPECT_EQ(exact.second, 3);
  EXPECT_EQ(exact.microsecond, 123456u);
}

TEST(StatementParameters, ATimeMayBeNegativeAndLongerThanADay) {
  Temporal time =
      decode_one(FieldType::Time, false, std::string("\x08\x01\x02\0\0\0\x03\x04\x05", 9)).as_temporal();
  EXPECT_TRUE(time.negative);
  EXPECT_EQ(time.hour, 51u);
}

TEST(StatementParameters, BlobsAreBinaryAndTextIsNot) {
  EXPECT_TRUE(decode_one(FieldType::Blob, false, "\x01z").is_binary());
  EXPECT_FALSE(decode_one(FieldType::VarString, false, "\x01z").is_binary());
}

TEST(StatementParameters, AValueCutOffIsAnError) {
  auto values = StatementParameters().decode(one_parameter(FieldType::LongLong, false, "1234"), 1);
  ASSERT_FALSE(values.ok());
  EXPECT_EQ(values.error().code, er::kWrongArguments);
}

TEST(StatementParameters, TypesMustHaveBeenGivenOnce) {
  EXPECT_FALSE(StatementParameters().decode(std::string("\0\0\1", 3), 1).ok());
}

TEST(StatementParameters, LongDataBeyondTheLimitFailsTheNextExecutionOnly) {
  StatementParameters parameters;
  parameters.add_long_data(0, "12345", 8);
  parameters.add_long_data(0, "67890", 8);
  EXPECT_FALSE(parameters.decode(one_parameter(FieldType::Blob, false, ""), 1).ok());
  EXPECT_TRUE(parameters.decode(one_parameter(FieldType::Blob, false, "\x01z"), 1).ok());
}

}  // namespace
}  // namespace commitd::wire
