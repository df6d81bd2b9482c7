// The text that LOAD DATA reads: lines and fields, as its FIELDS and LINES clauses say.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sql/ast/changes.h"

namespace commitd::sql {

class LoadFormat {
 public:
  using Fields = std::vector<std::optional<std::string>>;  // nullopt is NULL

  explicit LoadFormat(const ast::LoadDataStatement& statement) : format_(statement) {}
  // 1235 for formats that are not supported, 1083 for separators that cannot be.
  Status check() const;

  enum class Outcome { Line, More, End };
  // Takes one line off the front of `data`. More: it may not be complete yet, and more follows
  // (`complete` = false).
  Outcome next(std::string_view& data, bool complete, Fields& fields) const;

 private:
  enum class Stop { Field, Line, End, More };
  Stop field(std::string_view& data, bool complete, std::optional<std::string>& into) const;
  Stop stop_here(std::string_view data, bool complete, size_t& length) const;
  void unescape(char c, std::string& into) const;
  bool is_escape(char c) const { return !format_.escaped.empty() && c == format_.escaped[0]; }

  const ast::LoadDataStatement& format_;
};

}  // namespace commitd::sql
