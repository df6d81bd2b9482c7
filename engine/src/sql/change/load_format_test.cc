#include "sql/change/load_format.h"
#include "sql/ast/changes.h"

#include <gtest/gtest.h>

namespace commitd::sql {
namespace {

using Lines = std::vector<std::string>;

// Each line's fields joined with |, NULL as ~. The text comes in pieces of every size, which must not matter.
Lines lines(const ast::LoadDataStatement& statement, std::string_view text, size_t piece) {
  LoadFormat format(statement);
  Lines out;
  std::string buffer;
  LoadFormat::Fields fields;
  for (size_t at = 0;;) {
    const bool complete = at >= text.size();
    buffer += text.substr(std::min(at, text.size()), piece);
    at += piece;
    std::string_view rest = buffer;
    LoadFormat::Outcome outcome;
    while ((outcome = format.next(rest, complete, fields)) == LoadFormat::Outcome::Line) {
      std::string line;
      for (size_t i = 0; i < fields.size(); ++i) line += (i ? "|" : "") + fields[i].value_or("~");
      out.push_back(line);
    }
    buffer.erase(0, buffer.size() - rest.size());
    if (complete) return out;
  }
}

class LoadFormatTest : public ::testing::Test {
 protected:
  void expect(std::string_view text, const Lines& expected) {
    for (size_t piece = 1; piece <= text.size() + 1; ++piece)
      EXPECT_EQ(lines(statement_, text, piece), expected) << "in pieces of " << piece;
  }
  ast::LoadDataStatement statement_{std::pmr::get_default_resource()};
};

TEST_F(LoadFormatTest, DefaultsAreTabsAndNewlines) {
  expect("1\ta b\n2\t\\N\n\t\n", {"1|a b", "2|~", "|"});
  expect("last line\twithout end", {"last line|without end"});
  expect("a\\tb\\\\\\\nc\tx\\N\n", {"a\tb\\\nc|xN"});
  expect("", {});
}

TEST_F(LoadFormatTest, Csv) {
  statement_.fields_terminated = ",";
  statement_.enclosed = "\"";
  statement_.lines_terminated = "\r\n";
  expect("1,\"a, \"\"b\"\"\r\nc\"\r\n\"\",NULL\r\n\"NULL\",x\"y\r\n", {"1|a, \"b\"\r\nc", "|~", "NULL|x\"y"});
  expect("\"a\"b\",c", {"a\"b|c"});
}

TEST_F(LoadFormatTest, LongTerminatorsAndPrefixes) {
  statement_.fields_terminated = "<->";
  statement_.lines_starting = "> ";
  statement_.lines_terminated = ";;";
  expect("junk> a<-b<->c;d;;no line;;> e;;", {"a<-b|c;d", "e"});
}

TEST_F(LoadFormatTest, WithoutEscapes) {
  statement_.escaped = "";
  expect("a\\\tb\\N\n", {"a\\|b\\N"});
}

TEST_F(LoadFormatTest, FormatsThatCannotBe) {
  EXPECT_TRUE(LoadFormat(statement_).check().ok());
  statement_.enclosed = "ab";
  EXPECT_EQ(LoadFormat(statement_).check().error().code, 1083);
  statement_.enclosed = "";
  statement_.fields_terminated = "";
  EXPECT_EQ(LoadFormat(statement_).check().error().code, 1235);
}

}  // namespace
}  // namespace commitd::sql
