#include "base/decimal.h"

#include <random>

#include <gtest/gtest.h>

namespace commitd {
namespace {

std::string binary(const char* text, uint8_t precision, uint8_t scale) {
  std::string out;
  append_decimal_binary(out, *parse_decimal(text), precision, scale);
  return out;
}

TEST(Decimal, KeepsItsDigits) {
  for (const char* text : {"0", "1", "-1", "0.05", "-12.50", "12345678901234567890123456789012345678",
                           "0.000000000000000000000000000001"}) {
    EXPECT_EQ(parse_decimal(text)->to_string(), text);
  }
}

TEST(Decimal, ReadsSignsPointsAndExponents) {
  EXPECT_EQ(parse_decimal("+3")->to_string(), "3");
  EXPECT_EQ(parse_decimal(".5")->to_string(), "0.5");
  EXPECT_EQ(parse_decimal("1e3")->to_string(), "1000");
  EXPECT_EQ(parse_decimal("12.5e-1")->to_string(), "1.25");
  EXPECT_EQ(parse_decimal("007")->to_string(), "7");
}

TEST(Decimal, RefusesWhatIsNoNumberOrTooLong) {
  for (const char* text :
       {"", "-", ".", "1x", "e5", "1e", "123456789012345678901234567890123456789", "1e39"}) {
    EXPECT_FALSE(parse_decimal(text)) << text;
  }
}

TEST(Decimal, RoundsHalfAwayFromZero) {
  EXPECT_EQ(rescale(*parse_decimal("2.345"), 2)->to_string(), "2.35");
  EXPECT_EQ(rescale(*parse_decimal("-2.345"), 2)->to_string(), "-2.35");
  EXPECT_EQ(rescale(*parse_decimal("2.344"), 2)->to_string(), "2.34");
  EXPECT_EQ(rescale(*parse_decimal("0.5"), 0)->to_string(), "1");
  EXPECT_EQ(rescale(*parse_decimal("0.4"), 0)->to_string(), "0");
}

TEST(Decimal, ComparesAcrossScales) {
  EXPECT_EQ(compare(*parse_decimal("1.10"), *parse_decimal("1.1")), std::strong_ordering::equal);
  EXPECT_EQ(compare(*parse_decimal("-1.2"), *parse_decimal("-1.10")), std::strong_ordering::less);
  EXPECT_EQ(compare(*parse_decimal("99999999999999999999999999999999999999"),
                    *parse_decimal("0.000000000000000000000000000001")),
            std::strong_ordering::greater);
}

// The example of MySQL's manual for decimal2bin: 1234567890.1234 in DECIMAL(14,4).
TEST(Decimal, HasMySqlsBinaryForm) {
  EXPECT_EQ(binary("1234567890.1234", 14, 4), std::string("\x81\x0D\xFB\x38\xD2\x04\xD2", 7));
  EXPECT_EQ(binary("-1234567890.1234", 14, 4), std::string("\x7E\xF2\x04\xC7\x2D\xFB\x2D", 7));
}

TEST(Decimal, BinaryFormRoundTripsAndOrdersAsTheNumbers) {
  std::mt19937_64 random(1);
  for (const auto& [precision, scale] :
       {std::pair<uint8_t, uint8_t>{5, 2}, {9, 0}, {10, 9}, {14, 4}, {30, 30}, {38, 10}}) {
    const auto number = [&] {
      const __int128 unscaled = (static_cast<__int128>(random()) << 64 | random()) % power_of_ten(precision);
      return Decimal{unscaled, scale};
    };
    for (int i = 0; i < 500; ++i) {
      const Decimal left = number(), right = number();
      std::string left_bytes, right_bytes;
      append_decimal_binary(left_bytes, left, precision, scale);
      append_decimal_binary(right_bytes, right, precision, scale);
      ASSERT_EQ(left_bytes.size(), decimal_binary_size(precision, scale));
      EXPECT_EQ(load_decimal_binary(left_bytes.data(), precision, scale).to_string(), left.to_string());
      EXPECT_EQ(left_bytes <=> right_bytes, compare(left, right))
          << left.to_string() << " " << right.to_string();
    }
  }
}

}  // namespace
}  // namespace commitd
