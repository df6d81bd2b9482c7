#include "base/temporal.h"

#include <gtest/gtest.h>

namespace commitd {
namespace {

std::string datetime(std::string_view text) {
  const auto value = parse_datetime(text);
  return value ? format_temporal(*value) : "no";
}
std::string time_of(std::string_view text) {
  const auto value = parse_time(text);
  return value ? format_temporal(*value) : "no";
}

TEST(Temporal, ReadsMySqlsDateTimeLiterals) {
  EXPECT_EQ(datetime("2026-11-20 10:01:02"), "2026-11-20 10:01:02");
  EXPECT_EQ(datetime("2026-11-20T10:01:02.5"), "2026-11-20 10:01:02.5");
  EXPECT_EQ(datetime("20261120100102"), "2026-11-20 10:01:02");
  EXPECT_EQ(datetime("261120"), "2026-11-20 00:00:00");
  EXPECT_EQ(datetime("99-1-2"), "1999-01-02 00:00:00");
  EXPECT_EQ(datetime("2026/11/20 1:2:3"), "2026-11-20 01:02:03");
  EXPECT_EQ(datetime("0000-00-00"), "0000-00-00 00:00:00");
  EXPECT_EQ(datetime("2026-12-31 23:59:59.9999996"), "2027-01-01 00:00:00.000000");
}

TEST(Temporal, RefusesDatesThatDoNotExist) {
  for (const char* text : {"2026-02-29", "2026-13-01", "2026-00-10", "2026-11-20 24:00:00",
                           "2026-11-20 10:60:00", "hello", "", "2026-11"}) {
    EXPECT_EQ(datetime(text), "no") << text;
  }
  EXPECT_EQ(datetime("2024-02-29"), "2024-02-29 00:00:00");
}

TEST(Temporal, ReadsMySqlsTimeLiterals) {
  EXPECT_EQ(time_of("12:30"), "12:30:00");
  EXPECT_EQ(time_of("-838:59:59"), "-838:59:59");
  EXPECT_EQ(time_of("3 12:00:00"), "84:00:00");
  EXPECT_EQ(time_of("101112"), "10:11:12");
  EXPECT_EQ(time_of("12"), "00:00:12");
  EXPECT_EQ(time_of("10:11:12.25"), "10:11:12.25");
  EXPECT_EQ(time_of("839:00:00"), "no");
  EXPECT_EQ(time_of("838:59:59.1"), "no");
  EXPECT_EQ(time_of("9999999:00:00"), "no");
}

TEST(Temporal, ClocksThatAreTooLongAreTheLongestTime) {
  for (const char* text :
       {"839:00:00", "838:59:59.1", "40 00:00:00", "9999999:00:00", "9164000", "916:40:00 x"}) {
    const auto value = parse_clock(text);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(format_temporal(*value).substr(0, 9), "838:59:59") << text;
    EXPECT_EQ(value->microsecond, 0u) << text;
  }
  EXPECT_FALSE(parse_clock("839:60:00"));
  EXPECT_FALSE(parse_clock("2011-02-32 8:46:06.5"));
}

TEST(Temporal, TheYear0HasNoLeapDay) {
  EXPECT_FALSE(is_valid_date(0, 2, 29));
  EXPECT_EQ(day_number(0, 3, 1) - day_number(0, 2, 28), 1);
  for (int64_t day = day_number(0, 1, 1); day < day_number(1, 1, 1); ++day) {
    const Temporal date = date_from_day_number(day);
    EXPECT_EQ(day_number(date.year, date.month, date.day), day);
  }
}

TEST(Temporal, CountsDays) {
  EXPECT_EQ(day_number(1970, 1, 1), 0);
  EXPECT_EQ(day_number(2000, 3, 1), 11017);
  for (int64_t day = -700'000; day < 2'900'000; day += 97) {
    const Temporal date = date_from_day_number(day);
    EXPECT_EQ(day_number(date.year, date.month, date.day), day);
  }
}

TEST(Temporal, RoundsFractionsIntoTheNextSecond) {
  EXPECT_EQ(format_temporal(round_fraction(*parse_datetime("2026-12-31 23:59:59.95"), 1)),
            "2027-01-01 00:00:00.0");
  EXPECT_EQ(format_temporal(round_fraction(*parse_time("-00:59:59.5"), 0)), "-01:00:00");
  EXPECT_EQ(format_temporal(round_fraction(*parse_datetime("2026-12-31 23:59:59.94"), 1)),
            "2026-12-31 23:59:59.9");
}

TEST(Temporal, PackedNumbersOrderLikeTheValues) {
  const auto packed = [](const char* text) { return pack(*parse_time(text)); };
  EXPECT_LT(packed("-10:00:00.5"), packed("-10:00:00"));
  EXPECT_LT(packed("-00:00:01"), packed("00:00:00"));
  EXPECT_LT(packed("09:59:59.999999"), packed("10:00:00"));
  const Temporal time = *parse_time("-10:11:12.131415");
  EXPECT_EQ(format_temporal(unpack(pack(time), Temporal::Kind::Time, 6)), "-10:11:12.131415");
}

// From MySQL's documentation of my_time_packed_to_binary: '-00:00:00.01' in TIME(2) is 7FFFFF.FF.
TEST(Temporal, NegativeTimesBorrowForTheirFraction) {
  std::string out;
  append_time2(out, *parse_time("-00:00:00.01"), 2);
  EXPECT_EQ(out, std::string("\x7F\xFF\xFF\xFF", 4));
  out.clear();
  append_time2(out, *parse_time("-00:00:01.10"), 2);
  EXPECT_EQ(out, std::string("\x7F\xFF\xFE\xF6", 4));
}

TEST(Temporal, RowImageFormsRoundTrip) {
  for (uint8_t fsp = 0; fsp <= 6; ++fsp) {
    for (const char* text : {"2026-11-20 10:01:02.654321", "1000-01-01 00:00:00",
                             "9999-12-31 23:59:59.999999", "0000-00-00 00:00:00"}) {
      std::string out;
      const Temporal value = *parse_datetime(text);
      append_datetime2(out, value, fsp);
      EXPECT_EQ(out.size(), 5 + fraction_size(fsp));
      const std::string kept = std::string(text).substr(0, fsp == 0 ? 19 : 20 + fsp);
      EXPECT_EQ(format_temporal(load_datetime2(out.data(), fsp)).substr(0, kept.size()), kept);
    }
    for (const char* text : {"-838:59:58.000001", "10:11:12.999999", "00:00:00", "-00:00:00.100000"}) {
      std::string out;
      Temporal value = *parse_time(text);
      value.microsecond = 0;
      append_time2(out, value, fsp);
      EXPECT_EQ(pack(load_time2(out.data(), fsp)), pack(value));
    }
  }
  std::string out;
  append_timestamp2(out, *parse_datetime("2038-01-19 03:14:07.5"), 1);
  EXPECT_EQ(out, std::string("\x7F\xFF\xFF\xFF\x32", 5));
  EXPECT_EQ(format_temporal(load_timestamp2(out.data(), 1)), "2038-01-19 03:14:07.5");
}

}  // namespace
}  // namespace commitd
