#include <gtest/gtest.h>

#include <random>

#include "base/error_codes.h"
#include "base/json/binary.h"
#include "base/json/order.h"
#include "base/json/path.h"
#include "base/json/text.h"

namespace commitd::json {
namespace {

Node parsed(std::string_view text) {
  TextProblem problem;
  auto node = parse(text, &problem);
  EXPECT_TRUE(node) << text << ": " << problem.reason;
  return node.value_or(Node());
}

std::string binary(std::string_view text) {
  auto bytes = encode(parsed(text));
  EXPECT_TRUE(bytes.ok());
  return bytes.ok() ? *bytes : std::string();
}

std::string normal(std::string_view text) {
  return text_of(binary(text));
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) fmt::format_to(std::back_inserter(out), "{:02x}", static_cast<uint8_t>(c));
  return out;
}

TEST(JsonText, HasMySqlsNormalForm) {
  EXPECT_EQ(normal(R"({"bb":1,"a":[1,2.5,"x",null,true,false],"c":{}})"),
            R"({"a": [1, 2.5, "x", null, true, false], "c": {}, "bb": 1})");
  EXPECT_EQ(normal(R"({"a":1,"b":2,"a":3})"), R"({"a": 3, "b": 2})");
  EXPECT_EQ(normal(R"("\u0041\n\"\\\/\u0001é")"), "\"A\\n\\\"\\\\/\\u0001é\"");
  EXPECT_EQ(normal("1.0"), "1.0");
  EXPECT_EQ(normal("1e20"), "1e20");
  EXPECT_EQ(normal("[0e44, 0e-5, 0.0, 1e-400, -0]"), "[0.0, 0.0, 0.0, 0.0, 0]");
  EXPECT_EQ(normal("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(normal("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(to_pretty_text(parsed(R"({"a":[1,{}],"b":[]})")),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
}

TEST(JsonText, TellsWhereItIsWrong) {
  TextProblem problem;
  EXPECT_FALSE(parse("{\"a\": }", &problem));
  EXPECT_EQ(problem.in_column("t.j").message,
            "Invalid JSON text: \"Invalid value.\" at position 6 in value for column 't.j'.");
  EXPECT_EQ(problem.in_column("t.j").sqlstate(), "22032");
  EXPECT_FALSE(parse("", &problem));
  EXPECT_EQ(problem.reason, "The document is empty.");
  EXPECT_FALSE(parse("1 2", &problem));
  EXPECT_EQ(problem.reason, "The document root must not be followed by other values.");
  EXPECT_FALSE(parse(std::string_view("1\0 2", 4), &problem));
  EXPECT_FALSE(parse("\"\xff\"", &problem));
  EXPECT_FALSE(parse("1e999", &problem));
}

TEST(JsonText, IsAtMostAHundredLevelsDeep) {
  const auto nested = [](size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  EXPECT_EQ(depth(parsed(nested(kMaxDepth))), kMaxDepth);
  EXPECT_TRUE(encode(parsed(nested(kMaxDepth))).ok());
  TextProblem problem;
  EXPECT_FALSE(parse(nested(kMaxDepth + 1), &problem));
  EXPECT_EQ(problem.code, er::kJsonDocumentTooDeep);
  EXPECT_FALSE(parse(std::string(100000, '['), &problem));
  Node deep = parsed(nested(kMaxDepth));
  Array outer;
  outer.push_back(deep);
  EXPECT_EQ(encode(Node(std::move(outer))).error().code, er::kJsonDocumentTooDeep);
}

// The bytes as MySQL's format description has them.
TEST(JsonBinary, IsMySqls) {
  EXPECT_EQ(hex(binary("null")), "0400");
  EXPECT_EQ(hex(binary("true")), "0401");
  EXPECT_EQ(hex(binary("1")), "050100");
  EXPECT_EQ(hex(binary("-1")), "05ffff");
  EXPECT_EQ(hex(binary("65536")), "0700000100");
  EXPECT_EQ(hex(binary("\"abc\"")), "0c03616263");
  EXPECT_EQ(hex(binary("[]")), "0200000400");
  EXPECT_EQ(hex(binary("[1, \"a\", false]")),
            "020300"
            "0f00"
            "050100"
            "0c0d00"
            "040200"
            "0161");
  EXPECT_EQ(hex(binary(R"({"a": "b"})")),
            "000100"
            "0e00"
            "0b000100"
            "0c0c00"
            "61"
            "0162");
  EXPECT_EQ(hex(binary("[100000]")),
            "020100"
            "0b00"
            "070700"
            "a0860100");
}

TEST(JsonBinary, OfLargeDocumentsHasFourByteOffsets) {
  const std::string text = "[\"" + std::string(70000, 'x') + "\", 100000, {\"k\": [-2]}]";
  const std::string bytes = binary(text);
  EXPECT_EQ(bytes[0], 3);
  EXPECT_EQ(normal(text), text);
  // A container that is small by itself stays small in a large one; the integer lies in its entry.
  EXPECT_EQ(hex(std::string_view(bytes).substr(9 + 5, 5)), "07a0860100");
  EXPECT_EQ(bytes[9 + 10], 0);
}

TEST(JsonBinary, KeepsWhatTextCannotSay) {
  Array all;
  all.emplace_back(uint64_t{7});
  all.emplace_back(Decimal{-12345, 3});
  all.emplace_back(Opaque{FieldType::VarString, std::string("\0\xff", 2)});
  Temporal t;
  t.year = 2026;
  t.month = 11;
  t.day = 21;
  t.hour = 23;
  t.microsecond = 5;
  all.emplace_back(t);
  auto bytes = encode(Node(std::move(all)));
  ASSERT_TRUE(bytes.ok());
  auto node = decode(*bytes);
  ASSERT_TRUE(node.ok());
  const Array& read = *node->get<Array>();
  EXPECT_EQ(type_name(read[0]), "UNSIGNED INTEGER");
  EXPECT_EQ(type_name(read[1]), "DECIMAL");
  EXPECT_EQ(type_name(read[2]), "BLOB");
  EXPECT_EQ(type_name(read[3]), "DATETIME");
  EXPECT_EQ(to_text(*node), R"([7, -12.345, "base64:type253:AP8=", "2026-11-21 23:00:00.000005"])");
}

TEST(JsonBinary, ThatIsDamagedIsAnError) {
  const std::string whole = binary(R"({"name": "x", "list": [1, 2.5, "text", {"deep": [70000, null]}]})");
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_FALSE(is_valid(std::string_view(whole).substr(0, size))) << size;
    EXPECT_EQ(decode(whole.substr(0, size)).error().code, er::kInvalidJsonBinaryData);
  }
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = whole;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto node = decode(bytes);
    EXPECT_EQ(node.ok(), is_valid(bytes));
    EXPECT_TRUE(!node.ok() || encode(*node).ok());
  }
}

// Every level's two entries lead to one and the same level below: 2^50 values in a few hundred bytes.
TEST(JsonBinary, ThatMultipliesItselfIsAnError) {
  std::string bytes(1, '\2');
  for (int level = 0; level < 50; ++level) {
    const std::string entry{'\2', '\x0a', '\0'};
    const size_t size = 10 * static_cast<size_t>(50 - level) + 4;
    bytes +=
        std::string{'\2', '\0', static_cast<char>(size & 0xFF), static_cast<char>(size >> 8)} + entry + entry;
  }
  bytes += std::string("\0\0\4\0", 4);
  EXPECT_FALSE(is_valid(bytes));
  EXPECT_FALSE(decode(bytes).ok());
}

std::string extracted(std::string_view document, std::string_view path) {
  const Node node = parsed(document);
  auto legs = parse_path(path);
  if (!legs.ok()) return fmt::format("{}", legs.error().code);
  std::string out;
  for (const Node* found : find_all(node, *legs)) out += (out.empty() ? "" : " ") + to_text(*found);
  return out;
}

TEST(JsonPath, LeadsWhereMySqlsDo) {
  const std::string_view document = R"({"a": {"b": [1, 2, [3, 4]]}, "x y": 5, "b": 6})";
  EXPECT_EQ(extracted(document, "$.a.b[1]"), "2");
  EXPECT_EQ(extracted(document, "$ . a . b [ last ] [ 0 ]"), "3");
  EXPECT_EQ(extracted(document, "$.a.b[last-2]"), "1");
  EXPECT_EQ(extracted(document, "$.a.b[last-3]"), "");
  EXPECT_EQ(extracted(document, "$.a.b[0 to 1]"), "1 2");
  EXPECT_EQ(extracted(document, "$.a.b[1 to last]"), "2 [3, 4]");
  EXPECT_EQ(extracted(document, "$.a.b[*]"), "1 2 [3, 4]");
  EXPECT_EQ(extracted(document, "$.\"x y\""), "5");
  EXPECT_EQ(extracted(document, "$**.b"), "6 [1, 2, [3, 4]]");
  EXPECT_EQ(extracted(document, "$.b[0][last]"), "6");  // what is no array is its own only cell
  EXPECT_EQ(extracted(document, "$.b[*]"), "");
  EXPECT_EQ(extracted(document, "$.*[0]"), "{\"b\": [1, 2, [3, 4]]} 6 5");
  for (const auto* wrong :
       {"", "a", "$.", "$.1a", "$[", "$[a]", "$[1", "$**", "$***.a", "$.\"a", "$[2 to 1]", "$a"})
    EXPECT_EQ(extracted(document, wrong), "3143") << wrong;
}

// As many legs as a path may have do not multiply the ways through a document.
TEST(JsonPath, CostsItsLegsTimesTheDocument) {
  std::string document = "1", path = "$";
  for (int i = 0; i < 90; ++i) document = "{\"a\": " + document + "}";
  for (int i = 0; i < 30; ++i) path += "**.a";
  EXPECT_EQ(extracted(document, path).empty(), false);
}

TEST(JsonOrder, IsByKindThenByValue) {
  const char* ascending[] = {"null",       "-1", "0.5", "1",      "1e3", "\"\"",  "\"a\"", "{}",
                             "{\"a\": 1}", "[]", "[1]", "[1, 0]", "[2]", "false", "true"};
  for (size_t i = 0; i < std::size(ascending); ++i) {
    for (size_t j = 0; j < std::size(ascending); ++j)
      EXPECT_EQ(compare(parsed(ascending[i]), parsed(ascending[j])), i <=> j)
          << ascending[i] << " " << ascending[j];
  }
}

TEST(JsonOrder, EqualNumbersHaveEqualKeys) {
  const Node same[] = {Node(int64_t{2}), Node(uint64_t{2}), Node(2.0), Node(Decimal{200, 2})};
  for (const Node& left : same) {
    for (const Node& right : same) {
      EXPECT_EQ(compare(left, right), std::strong_ordering::equal);
      std::string left_key, right_key;
      append_key(left_key, left);
      append_key(right_key, right);
      EXPECT_EQ(left_key, right_key);
    }
  }
  EXPECT_NE(compare(Node(uint64_t{18446744073709551615u}), Node(int64_t{-1})), std::strong_ordering::equal);
}

}  // namespace
}  // namespace commitd::json
