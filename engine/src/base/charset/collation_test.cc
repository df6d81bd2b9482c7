#include "base/charset/collation.h"

#include <random>

#include <gtest/gtest.h>

#include "base/charset/transcode.h"
#include "base/charset/utf8.h"

namespace commitd {
namespace {

bool equal(std::string_view collation, std::string_view left, std::string_view right) {
  return compare(*find_collation(collation), left, right) == 0;
}

int sign(int number) {
  return (number > 0) - (number < 0);
}

std::string sort_key(const Collation& collation, std::string_view text) {
  std::string key;
  append_sort_key(collation, text, key);
  return key;
}

std::string equality_key(const Collation& collation, std::string_view text) {
  std::string key = "before";
  append_equality_key(collation, text, key);
  return key;
}

TEST(Collation, GeneralCiIgnoresCaseAndAccents) {
  EXPECT_TRUE(equal("utf8mb4_general_ci", "Straße", "STRASE"));
  EXPECT_TRUE(equal("utf8mb4_general_ci", "Ärger", "arger"));
  EXPECT_TRUE(equal("utf8mb4_general_ci", "ΑΘΗΝΑΣ", "αθηνας"));
  EXPECT_TRUE(equal("utf8mb4_general_ci", "Мир", "мИР"));
  EXPECT_FALSE(equal("utf8mb4_general_ci", "ø", "o"));
  EXPECT_FALSE(equal("utf8mb4_general_ci", "か", "が"));
}

TEST(Collation, SupplementaryCharactersAreOneInGeneralCiAndToldApartIn0900) {
  EXPECT_TRUE(equal("utf8mb4_general_ci", "😀", "😁"));
  EXPECT_FALSE(equal("utf8mb4_0900_ai_ci", "😀", "😁"));
}

TEST(Collation, TheUnicodeAlgorithmHasExpansionsAndCharactersThatDoNotCount) {
  EXPECT_TRUE(equal("utf8mb4_0900_ai_ci", "Straße", "STRASSE"));
  EXPECT_TRUE(equal("utf8mb4_0900_ai_ci", "æon", "AEON"));
  EXPECT_TRUE(equal("utf8mb4_0900_ai_ci", "a\u200D", "a")) << "a joiner weighs nothing";
  EXPECT_TRUE(equal("utf8mb4_0900_ai_ci", "e\u0301", "é"));
  EXPECT_TRUE(equal("utf8mb4_0900_ai_ci", "か", "が"));
  EXPECT_TRUE(equal("utf8mb4_0900_ai_ci", "각", "\u1100\u1161\u11A8")) << "a syllable and its letters";
  EXPECT_TRUE(equal("utf8mb4_0900_ai_ci", "o", "ø"));
  const Collation& uca = *find_collation("utf8mb4_0900_ai_ci");
  std::string_view before;
  for (const std::string_view text : {" ", "_", "-", ",", "'",  "$",  "0",  "9",  "a",  "B",
                                      "z", "α", "я", "א", "가", "あ", "一", "丁", "㐀", "𠀀"}) {
    EXPECT_LT(compare(uca, before, text), 0) << before << " and " << text;
    before = text;
  }
  EXPECT_EQ(weight(uca, U'é'), weight(uca, U'E'));
}

TEST(Collation, TrailingSpacesCountOnlyWithoutPadding) {
  EXPECT_TRUE(equal("utf8mb4_general_ci", "a", "a  "));
  EXPECT_TRUE(equal("utf8mb4_bin", "a", "a "));
  EXPECT_FALSE(equal("utf8mb4_0900_ai_ci", "a", "a "));
  EXPECT_FALSE(equal("binary", "a", "a "));
  EXPECT_LT(compare(*find_collation("utf8mb4_general_ci"), "a\t", "a"), 0);
}

TEST(Collation, SwedishPutsItsLettersBehindZ) {
  const Collation& swedish = *find_collation("latin1_swedish_ci");
  EXPECT_LT(compare(swedish, "z", "Å"), 0);
  EXPECT_LT(compare(swedish, "å", "ä"), 0);
  EXPECT_LT(compare(swedish, "Ä", "ö"), 0);
  EXPECT_TRUE(equal("latin1_swedish_ci", "é", "E"));
}

TEST(Collation, IsFoundByNameInAnyCaseAndByNumber) {
  EXPECT_EQ(find_collation("UTF8MB4_General_CI")->id, 45);
  EXPECT_EQ(find_collation(uint16_t{46})->name, "utf8mb4_bin");
  EXPECT_EQ(find_collation("klingon_ci"), nullptr);
  EXPECT_EQ(find_charset("utf8")->name, "utf8mb3");
}

// compare() is the definition; keys must order the same way, and none may be a prefix of another.
TEST(Collation, SortKeysOrderAsTheTextsDo) {
  std::mt19937 random(7);
  const std::vector<std::string> alphabet = {"a",    "A",   "b", " ", " ",  "\t", "é",
                                             "E",    "ß",   "z", "Ö", "か", "😀",  std::string(1, '\0'),
                                             "\xFF", "\x1F"};
  const auto text = [&] {
    std::string out;
    for (size_t length = random() % 6; length > 0; --length) out += alphabet[random() % alphabet.size()];
    return out;
  };
  for (const Collation& collation : all_collations()) {
    for (int i = 0; i < 20'000; ++i) {
      const std::string left = text(), right = text();
      const std::string left_key = sort_key(collation, left), right_key = sort_key(collation, right);
      ASSERT_EQ(sign(compare(collation, left, right)), sign(left_key.compare(right_key)))
          << collation.name << ": " << left << "|" << right;
      const bool one_starts_with_other = left_key.starts_with(right_key) || right_key.starts_with(left_key);
      ASSERT_EQ(one_starts_with_other, left_key == right_key) << collation.name;
      ASSERT_EQ(left_key == right_key, equality_key(collation, left) == equality_key(collation, right))
          << collation.name << ": " << left << "|" << right;
      const uint64_t left_prefix = sort_prefix(collation, left), right_prefix = sort_prefix(collation, right);
      ASSERT_TRUE(left_prefix == right_prefix || (left_prefix < right_prefix) == (left_key < right_key))
          << collation.name << ": " << left << "|" << right;
    }
  }
}

TEST(Collation, PrefixesTellOrdinaryTextsApart) {
  for (const Collation& collation : all_collations()) {
    const std::string same(collation.order == Order::Uca0900 ? "abc"
                                                             : "abcdefg");  // its weights take two bytes each
    EXPECT_LT(sort_prefix(collation, same), sort_prefix(collation, same + "h")) << collation.name;
    EXPECT_LT(sort_prefix(collation, same + "g"), sort_prefix(collation, same + "h")) << collation.name;
    EXPECT_EQ(sort_prefix(collation, same + "h1"), sort_prefix(collation, same + "h2")) << collation.name;
  }
}

// These bytes are in the indexes on disk.
TEST(Collation, SortKeysStayWhatTheyAre) {
  const auto key = [](const char* collation, std::string_view text) {
    return sort_key(*find_collation(collation), text);
  };
  using namespace std::string_literals;
  EXPECT_EQ(key("utf8mb4_general_ci", "a B\xC3\xA9 "), "\0A\0 \xFF\xFF\xFF\xFE\0B\0E\0 \x80\0\0\0"s);
  EXPECT_EQ(key("latin1_swedish_ci", "\xC3\xA5"), "\0[\0 \x80\0\0\0"s);
  EXPECT_EQ(key("utf8mb4_bin", "a\t"), "\0\0a\0\0\t\0\0 \x80\0\0\0"s);
  EXPECT_EQ(key("utf8mb4_0900_ai_ci", "a"), "\x1C\x47\0\0"s);
  EXPECT_EQ(key("binary", "a\0"s), "a\0\xFF\0\0"s);
}

TEST(Collation, LongTextsHaveTheKeysOfTheirParts) {
  for (const Collation& collation : all_collations()) {
    const size_t of_one = sort_key(collation, "x").size(), end = sort_key(collation, "").size();
    const std::string one = sort_key(collation, "x").substr(0, of_one - end);
    std::string expected;
    for (int i = 0; i < 1000; ++i) expected += one;
    expected += sort_key(collation, "");
    EXPECT_EQ(sort_key(collation, std::string(1000, 'x')), expected) << collation.name;
  }
}

TEST(Utf8, FindsWhereTextStopsBeingValid) {
  EXPECT_EQ(valid_utf8_prefix("aé😀"), 7u);
  EXPECT_EQ(valid_utf8_prefix("aé😀", 3), 3u);
  EXPECT_EQ(valid_utf8_prefix("a\xC3"), 1u);
  for (size_t before = 0; before < 20; ++before) {
    const std::string ascii(before, 'a'), behind(9, 'z');
    EXPECT_EQ(valid_utf8_prefix(ascii + "\xFF" + behind), before);
    EXPECT_EQ(valid_utf8_prefix(ascii + "😀" + behind, 3), before);
    EXPECT_EQ(valid_utf8_prefix(ascii + "é" + behind), before + 11);
  }
  EXPECT_EQ(valid_utf8_prefix("\xED\xA0\x80"), 0u);
  EXPECT_EQ(valid_utf8_prefix("\xC0\x80"), 0u);
  EXPECT_EQ(character_prefix("aé😀x", 3), "aé😀");
  EXPECT_EQ(character_count("aé😀"), 3u);
}

TEST(Latin1, IsWindows1252) {
  size_t lost = 0;
  EXPECT_EQ(latin1_from_utf8("é€x", &lost), "\xE9\x80x");
  EXPECT_EQ(lost, 0u);
  EXPECT_EQ(latin1_from_utf8("か", &lost), "?");
  EXPECT_EQ(lost, 1u);
  for (int byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    EXPECT_EQ(latin1_from_utf8(utf8_from_latin1(one)), one);
  }
}

}  // namespace
}  // namespace commitd
