#include "sql/executor/turn.h"

#include <charconv>
#include <chrono>

#include "base/error_codes.h"
#include "base/text_case.h"
#include "sql/session_state.h"

namespace commitd::sql {
namespace {

using namespace std::chrono_literals;

constexpr auto kLength = 2ms;                    // of a turn
constexpr auto kOften = 100us, kSeldom = 500us;  // between two looks at the clock

}  // namespace

Status Turn::look(const SessionState& session) {
  const Deadline now = Clock::now();
  if (began_ == Deadline()) began_ = looked_ = now;
  // Units of work differ: a row may be read in a microsecond, or take a subquery.
  const auto since = now - looked_;
  if (since > kSeldom) units_ = std::max(units_ / 4, 1u);
  if (since < kOften) units_ = std::min(units_ * 2, kMostUnits);
  looked_ = now;
  left_ = units_;
  const bool over = over_ = over_ || now - began_ >= kLength;
  if (over && plain_code_) let_others_go_first();
  if (session.interrupted() || (over && session.client_has_gone()))
    return make_error(er::kQueryInterrupted, "Query execution was interrupted");
  if (now < end_) return {};
  return make_error(er::kQueryTimeout,
                    "Query execution was interrupted, maximum statement execution time exceeded");
}

void Turn::let_others_go_first() {
  if (Reactor* reactor = Reactor::current()) reactor->let_others_go_first();
  begin_again();
}

void Turn::end_after(uint64_t milliseconds) {
  end_ = milliseconds == 0 ? kNoDeadline : Clock::now() + std::chrono::milliseconds(milliseconds);
}

uint64_t hinted_execution_time(std::string_view select, uint64_t otherwise) {
  constexpr std::string_view kSelect = "select", kOpen = "/*+", kName = "max_execution_time(";
  if (lower_case(select.substr(0, kSelect.size())) != kSelect) return otherwise;
  const size_t begin = select.find_first_not_of(" \t\r\n", kSelect.size());
  if (begin == std::string_view::npos || select.substr(begin, kOpen.size()) != kOpen) return otherwise;
  std::string hints = lower_case(select.substr(begin, select.find("*/", begin) - begin));
  std::erase_if(hints, [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; });
  const size_t at = hints.find(kName);
  if (at == std::string::npos) return otherwise;
  uint64_t milliseconds = 0;
  const char* digits = hints.data() + at + kName.size();
  const auto parsed = std::from_chars(digits, hints.data() + hints.size(), milliseconds);
  return parsed.ec == std::errc() && *parsed.ptr == ')' ? milliseconds : otherwise;
}

}  // namespace commitd::sql
