#include "base/value.h"

#include <gtest/gtest.h>

namespace commitd {
namespace {

TEST(ValueText, DoublesPrintAsMySqlPrintsThem) {
  const auto text = [](double number) { return Value::real(number).to_text(); };
  EXPECT_EQ(text(0), "0");
  EXPECT_EQ(text(1.5), "1.5");
  EXPECT_EQ(text(-0.1), "-0.1");
  EXPECT_EQ(text(1e14), "100000000000000");
  EXPECT_EQ(text(1e15), "1e15");
  EXPECT_EQ(text(1.25e20), "1.25e20");
  EXPECT_EQ(text(0.00001), "0.00001");
  EXPECT_EQ(text(1e-20), "1e-20");
  EXPECT_EQ(text(3.141592653589793), "3.141592653589793");
}

TEST(ValueText, FloatsPrintSixDigits) {
  EXPECT_EQ(Value::real_single(1.1f).to_text(), "1.1");
  EXPECT_EQ(Value::real_single(16777216.0f).to_text(), "16777200");
  EXPECT_EQ(Value::real_single(0.1f).to_text(), "0.1");
}

TEST(ValueText, EveryKindHasAText) {
  EXPECT_EQ(Value::null().to_text(), "NULL");
  EXPECT_EQ(Value::integer(INT64_MIN).to_text(), "-9223372036854775808");
  EXPECT_EQ(Value::unsigned_integer(UINT64_MAX).to_text(), "18446744073709551615");
  EXPECT_EQ(Value::string("a\0b").to_text(), "a");
  EXPECT_EQ(Value::decimal({-5, 2}).to_text(), "-0.05");
}

}  // namespace
}  // namespace commitd
