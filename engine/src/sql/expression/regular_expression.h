// Regular expressions as MySQL has them: ICU's, over UTF-16. What was compiled is kept for the next row.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include <unicode/uregex.h>

#include "base/charset/collation.h"
#include "base/result.h"
#include "sql/expression/expression.h"

namespace commitd::sql {

// regexp_time_limit (ICU's steps of a match) and regexp_stack_limit (bytes).
inline std::atomic<int32_t> regexp_time_limit{32}, regexp_stack_limit{8'000'000};

// How a pattern is read: ICU's UREGEX_ bits, and whether texts are bytes.
struct RegexpMode {
  uint32_t flags = 0;
  bool bytes = false;

  static RegexpMode of(const Collation& collation);
  // match_type: c, i, m, n, u; the later one of c and i counts. False: it has another letter.
  bool refine(std::string_view match_type);
  bool operator==(const RegexpMode&) const = default;
};

class RegularExpression {
 public:
  // The one that this thread has compiled before, or a new one; valid until the thread's next call. An
  // error of MySQL's 3685 to 3700, or 3887.
  static Result<RegularExpression*> get(std::string_view pattern, RegexpMode mode, Evaluation& evaluation);

  ~RegularExpression();
  RegularExpression(const RegularExpression&) = delete;
  RegularExpression& operator=(const RegularExpression&) = delete;

  // Of `text`, from its `position`th character (from 1) on: the `occurrence`th match. False: there is none.
  Result<bool> find(std::string_view text, int64_t position, int64_t occurrence);
  // Behind a find() that was true.
  int64_t begin_of_match() const;  // in characters, from 1
  int64_t end_of_match() const;    // of the character behind it
  std::string match() const;
  // `text` with the `occurrence`th match replaced; with all of them when that is 0.
  Result<std::string> replace(std::string_view text, std::string_view replacement, int64_t position,
                              int64_t occurrence);

 private:
  RegularExpression(std::string pattern, RegexpMode mode) : pattern_(std::move(pattern)), mode_(mode) {}
  Status compile();
  Status prepare_for(const SessionState& session);
  Status begin(std::string_view text, int64_t position);
  // The present match's replacement: $1 and ${name} are its groups, a backslash quotes what follows.
  Status append_replacement(std::u16string_view by, std::u16string& result) const;
  Status append_group(std::u16string_view& text, std::u16string& result) const;
  int32_t take_group_number(std::u16string_view& text) const;
  std::u16string wide(std::string_view text) const;
  std::string narrow(std::u16string_view text) const;
  int64_t character_at(int32_t unit) const;

  const std::string pattern_;
  const RegexpMode mode_;
  URegularExpression* compiled_ = nullptr;
  std::u16string text_;
  int32_t start_ = 0;
};

}  // namespace commitd::sql
