#include "sql/expression/regular_expression.h"

#include <algorithm>
#include <vector>

#include <unicode/ustring.h>
#include <unicode/utf16.h>

#include "base/charset/utf8.h"
#include "base/error_codes.h"
#include "sql/expression/conversion.h"
#include "sql/session_state.h"

namespace commitd::sql {
namespace {

constexpr size_t kLongestPattern = 64 << 10;
constexpr size_t kKept = 8;  // of a thread

// A byte that is no character, as half of a pair that no text has.
constexpr char16_t kInvalidByte = 0xDC00;

Error error_of(UErrorCode code, const UParseError& where) {
  switch (code) {
    case U_ILLEGAL_ARGUMENT_ERROR:
      return make_error(er::kRegexpIllegalArgument, "Illegal argument to a regular expression.");
    case U_INDEX_OUTOFBOUNDS_ERROR:
      return make_error(er::kRegexpIndexOutofboundsError,
                        "Index out of bounds in regular expression search.");
    case U_REGEX_RULE_SYNTAX:
      return make_error(er::kRegexpRuleSyntax, "Syntax error in regular expression on line {}, character {}.",
                        where.line, where.offset);
    case U_REGEX_BAD_ESCAPE_SEQUENCE:
      return make_error(er::kRegexpBadEscapeSequence, "Unrecognized escape sequence in regular expression.");
    case U_REGEX_UNIMPLEMENTED:
      return make_error(
          er::kRegexpUnimplemented,
          "The regular expression contains a feature that is not implemented in this library version.");
    case U_REGEX_MISMATCHED_PAREN:
      return make_error(er::kRegexpMismatchedParen, "Mismatched parenthesis in regular expression.");
    case U_REGEX_BAD_INTERVAL:
      return make_error(er::kRegexpBadInterval, "Incorrect description of a {{min,max}} interval.");
    case U_REGEX_MAX_LT_MIN:
      return make_error(er::kRegexpMaxLtMin,
                        "The maximum is less than the minumum in a {{min,max}} interval.");
    case U_REGEX_INVALID_BACK_REF:
      return make_error(er::kRegexpInvalidBackRef, "Invalid back-reference in regular expression.");
    case U_REGEX_LOOK_BEHIND_LIMIT:
      return make_error(er::kRegexpLookBehindLimit,
                        "The look-behind assertion exceeds the limit in regular expression.");
    case U_REGEX_MISSING_CLOSE_BRACKET:
      return make_error(er::kRegexpMissingCloseBracket,
                        "The regular expression contains an unclosed bracket expression.");
    case U_REGEX_INVALID_RANGE:
      return make_error(er::kRegexpInvalidRange,
                        "The regular expression contains an [x-y] character range where x comes after y.");
    case U_REGEX_STACK_OVERFLOW:
      return make_error(er::kRegexpStackOverflow, "Overflow in the regular expression backtrack stack.");
    case U_REGEX_TIME_OUT:
      return make_error(er::kRegexpTimeOut, "Timeout exceeded in regular expression match.");
    case U_REGEX_PATTERN_TOO_BIG:
      return make_error(er::kRegexpPatternTooBig,
                        "The regular expression pattern exceeds limits on size or complexity.");
    case U_REGEX_STOPPED_BY_CALLER:
      return make_error(er::kQueryInterrupted, "Query execution was interrupted");
    case U_REGEX_INVALID_CAPTURE_GROUP_NAME:
      return make_error(er::kRegexpInvalidCaptureGroupName, "A capture group has an invalid name.");
    default:
      return make_error(er::kRegexpInternalError, "Internal error in the regular expression library.");
  }
}

Status status_of(UErrorCode code) {
  if (U_SUCCESS(code)) return {};
  return error_of(code, {});
}

}  // namespace

RegexpMode RegexpMode::of(const Collation& collation) {
  const bool any_case = collation.order != Order::Bytes && collation.order != Order::CodePoint;
  return {any_case ? uint32_t{UREGEX_CASE_INSENSITIVE} : 0, collation.order == Order::Bytes};
}

bool RegexpMode::refine(std::string_view match_type) {
  for (const char letter : match_type) {
    switch (letter) {
      case 'c':
        flags &= ~uint32_t{UREGEX_CASE_INSENSITIVE};
        break;
      case 'i':
        flags |= UREGEX_CASE_INSENSITIVE;
        break;
      case 'm':
        flags |= UREGEX_MULTILINE;
        break;
      case 'n':
        flags |= UREGEX_DOTALL;
        break;
      case 'u':
        flags |= UREGEX_UNIX_LINES;
        break;
      default:
        return false;
    }
  }
  return true;
}

Result<RegularExpression*> RegularExpression::get(std::string_view pattern, RegexpMode mode,
                                                  Evaluation& evaluation) {
  thread_local std::vector<std::unique_ptr<RegularExpression>> kept;  // the last one used first
  auto found = std::find_if(kept.begin(), kept.end(),
                            [&](const auto& e) { return e->mode_ == mode && e->pattern_ == pattern; });
  if (found == kept.end()) {
    if (pattern.size() > kLongestPattern) return error_of(U_REGEX_PATTERN_TOO_BIG, {});
    std::unique_ptr<RegularExpression> made(new RegularExpression(std::string(pattern), mode));
    COMMITD_RETURN_IF_ERROR(made->compile());
    if (kept.size() == kKept) kept.pop_back();
    found = kept.insert(kept.end(), std::move(made));
  }
  std::rotate(kept.begin(), found, found + 1);
  COMMITD_RETURN_IF_ERROR(kept.front()->prepare_for(evaluation.session()));
  return kept.front().get();
}

RegularExpression::~RegularExpression() {
  uregex_close(compiled_);
}

Status RegularExpression::compile() {
  const std::u16string pattern = wide(pattern_);
  UParseError where{};
  UErrorCode code = U_ZERO_ERROR;
  compiled_ = uregex_open(pattern.data(), static_cast<int32_t>(pattern.size()), mode_.flags, &where, &code);
  return U_SUCCESS(code) ? Status() : Status(error_of(code, where));
}

// A match that takes its time asks now and then whether its session was killed.
Status RegularExpression::prepare_for(const SessionState& session) {
  const auto goes_on = [](const void* whose, int32_t) -> UBool {
    return !static_cast<const SessionState*>(whose)->interrupted();
  };
  UErrorCode code = U_ZERO_ERROR;
  uregex_setMatchCallback(compiled_, goes_on, &session, &code);
  uregex_setTimeLimit(compiled_, regexp_time_limit.load(std::memory_order_relaxed), &code);
  uregex_setStackLimit(compiled_, regexp_stack_limit.load(std::memory_order_relaxed), &code);
  return status_of(code);
}

std::u16string RegularExpression::wide(std::string_view text) const {
  std::u16string result;
  result.reserve(text.size());
  if (mode_.bytes) {
    for (const char byte : text) result.push_back(static_cast<uint8_t>(byte));
    return result;
  }
  while (!text.empty()) {
    const char32_t c = take_character(text);
    if (c >= kInvalidByteBase) {
      result.push_back(static_cast<char16_t>(kInvalidByte + (c - kInvalidByteBase)));
    } else if (c >= 0x10000) {
      result.push_back(static_cast<char16_t>(U16_LEAD(c)));
      result.push_back(static_cast<char16_t>(U16_TRAIL(c)));
    } else {
      result.push_back(static_cast<char16_t>(c));
    }
  }
  return result;
}

std::string RegularExpression::narrow(std::u16string_view text) const {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    char32_t c = 0;
    U16_NEXT(text.data(), at, text.size(), c);
    if (mode_.bytes)
      result.push_back(static_cast<char>(c));
    else if (U_IS_TRAIL(c))
      result.push_back(static_cast<char>(c - kInvalidByte));
    else
      append_character(result, c);
  }
  return result;
}

Status RegularExpression::begin(std::string_view text, int64_t position) {
  text_ = wide(text);
  const auto length = static_cast<int32_t>(text_.size());
  start_ = 0;
  int64_t left = position - 1;
  for (; left > 0 && start_ < length; --left) U16_FWD_1(text_.data(), start_, length);
  if (left != 0) return error_of(U_INDEX_OUTOFBOUNDS_ERROR, {});
  UErrorCode code = U_ZERO_ERROR;
  uregex_setText(compiled_, text_.data(), length, &code);
  return status_of(code);
}

Result<bool> RegularExpression::find(std::string_view text, int64_t position, int64_t occurrence) {
  COMMITD_RETURN_IF_ERROR(begin(text, position));
  UErrorCode code = U_ZERO_ERROR;
  bool found = uregex_find(compiled_, start_, &code);
  for (; found && occurrence > 1; --occurrence) found = uregex_findNext(compiled_, &code);
  COMMITD_RETURN_IF_ERROR(status_of(code));
  return found;
}

int64_t RegularExpression::character_at(int32_t unit) const {
  return u_countChar32(text_.data(), unit) + 1;
}
int64_t RegularExpression::begin_of_match() const {
  UErrorCode code = U_ZERO_ERROR;
  return character_at(uregex_start(compiled_, 0, &code));
}
int64_t RegularExpression::end_of_match() const {
  UErrorCode code = U_ZERO_ERROR;
  return character_at(uregex_end(compiled_, 0, &code));
}
std::string RegularExpression::match() const {
  UErrorCode code = U_ZERO_ERROR;
  const auto from = static_cast<size_t>(uregex_start(compiled_, 0, &code));
  const auto to = static_cast<size_t>(uregex_end(compiled_, 0, &code));
  return narrow(std::u16string_view(text_).substr(from, to - from));
}

// As many digits as name a group that there is; at least one.
int32_t RegularExpression::take_group_number(std::u16string_view& text) const {
  UErrorCode code = U_ZERO_ERROR;
  const int32_t groups = uregex_groupCount(compiled_, &code);
  int32_t number = -1;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    const int32_t next = std::max(number, 0) * 10 + (text[0] - '0');
    if (number >= 0 && next > groups) break;
    number = next;
    text.remove_prefix(1);
  }
  return number;
}

// Behind a $: a number, or a name in braces.
Status RegularExpression::append_group(std::u16string_view& text, std::u16string& result) const {
  UErrorCode code = U_ZERO_ERROR;
  int32_t group = -1;
  if (text.starts_with(u'{')) {
    const size_t end = text.find(u'}');
    if (end == text.npos) return error_of(U_REGEX_INVALID_CAPTURE_GROUP_NAME, {});
    group = uregex_groupNumberFromName(compiled_, text.data() + 1, static_cast<int32_t>(end - 1), &code);
    text.remove_prefix(end + 1);
  } else {
    group = take_group_number(text);
    if (group < 0) return error_of(U_REGEX_INVALID_CAPTURE_GROUP_NAME, {});
  }
  const int32_t from = uregex_start(compiled_, group, &code), to = uregex_end(compiled_, group, &code);
  COMMITD_RETURN_IF_ERROR(status_of(code));
  if (from >= 0) result.append(text_, static_cast<size_t>(from), static_cast<size_t>(to - from));
  return {};
}

Status RegularExpression::append_replacement(std::u16string_view by, std::u16string& result) const {
  while (!by.empty()) {
    const char16_t c = by[0];
    by.remove_prefix(1);
    if (c == u'$') {
      COMMITD_RETURN_IF_ERROR(append_group(by, result));
    } else if (c != u'\\') {
      result.push_back(c);
    } else if (!by.empty()) {
      result.push_back(by[0]);
      by.remove_prefix(1);
    }
  }
  return {};
}

Result<std::string> RegularExpression::replace(std::string_view text, std::string_view replacement,
                                               int64_t position, int64_t occurrence) {
  COMMITD_RETURN_IF_ERROR(begin(text, position));
  const std::u16string by = wide(replacement);
  std::u16string result;
  UErrorCode code = U_ZERO_ERROR;
  size_t copied = 0;
  int64_t nth = 0;
  for (bool found = uregex_find(compiled_, start_, &code); found && U_SUCCESS(code);
       found = uregex_findNext(compiled_, &code)) {
    if (occurrence != 0 && ++nth < occurrence) continue;
    const auto from = static_cast<size_t>(uregex_start(compiled_, 0, &code));
    const auto to = static_cast<size_t>(uregex_end(compiled_, 0, &code));
    result.append(text_, copied, from - copied);
    COMMITD_RETURN_IF_ERROR(append_replacement(by, result));
    copied = to;
    if (occurrence != 0) break;
  }
  COMMITD_RETURN_IF_ERROR(status_of(code));
  result.append(text_, copied);
  return narrow(result);
}

}  // namespace commitd::sql
