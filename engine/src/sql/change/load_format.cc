#include "sql/change/load_format.h"

#include <algorithm>

#include "base/error_codes.h"

namespace commitd::sql {

Status LoadFormat::check() const {
  if (format_.enclosed.size() > 1 || format_.escaped.size() > 1)
    return make_error(er::kWrongFieldTerminators,
                      "Field separator argument is not what is expected; check the manual");
  if (format_.fields_terminated.empty() || format_.lines_terminated.empty()) {
    return make_error(er::kNotSupportedYet,
                      "This version of commitd doesn't yet support 'LOAD DATA with fields or lines that have "
                      "no terminator'");
  }
  return {};
}

// Whether a terminator stands at the front of `data`; `length` is its length. More: it may begin here.
LoadFormat::Stop LoadFormat::stop_here(std::string_view data, bool complete, size_t& length) const {
  const auto starts = [&](std::string_view terminator) {
    const std::string_view seen = data.substr(0, terminator.size());
    if (seen == terminator) return 2;
    return !complete && seen.size() < terminator.size() && terminator.starts_with(seen) ? 1 : 0;
  };
  const int line = starts(format_.lines_terminated), field = starts(format_.fields_terminated);
  if (line == 2) {
    length = format_.lines_terminated.size();
    return Stop::Line;
  }
  if (line == 1 || field == 1) return Stop::More;
  length = format_.fields_terminated.size();
  return field == 2 ? Stop::Field : Stop::End;  // End: neither
}

void LoadFormat::unescape(char c, std::string& into) const {
  switch (c) {
    case '0':
      into += '\0';
      break;
    case 'b':
      into += '\b';
      break;
    case 'n':
      into += '\n';
      break;
    case 'r':
      into += '\r';
      break;
    case 't':
      into += '\t';
      break;
    case 'Z':
      into += '\x1a';
      break;
    default:
      into += c;
  }
}

LoadFormat::Stop LoadFormat::field(std::string_view& data, bool complete,
                                   std::optional<std::string>& into) const {
  const bool quoted = !format_.enclosed.empty() && !data.empty() && data[0] == format_.enclosed[0];
  const char quote = quoted ? data[0] : '\0';
  std::string text;
  bool is_null = false, escaped = false;
  Stop stopped = Stop::Line;  // also at the end of the file
  size_t at = quoted ? 1 : 0;
  for (;;) {
    if (at >= data.size()) {
      if (!complete) return Stop::More;
      data = {};
      break;
    }
    const char c = data[at];
    if (is_escape(c) && !(quoted && c == quote)) {
      if (at + 1 >= data.size() && !complete) return Stop::More;
      if (at + 1 < data.size()) {
        escaped = true;
        is_null = data[at + 1] == 'N' && at == 0;
        unescape(data[at + 1], text);
      }
      at += 2;
      continue;
    }
    if (quoted) {
      if (c != quote) {
        text += c;
        ++at;
        continue;
      }
      if (at + 1 >= data.size() && !complete) return Stop::More;
      if (at + 1 < data.size() && data[at + 1] == quote) {  // doubled: one of the text
        text += c;
        at += 2;
        continue;
      }
      size_t length = 0;
      const Stop stop = at + 1 >= data.size() ? Stop::Line : stop_here(data.substr(at + 1), complete, length);
      if (stop == Stop::More) return stop;
      if (stop == Stop::End) {  // a quote inside the text
        text += c;
        ++at;
        continue;
      }
      data.remove_prefix(std::min(data.size(), at + 1 + length));
      into = std::move(text);
      return stop;
    }
    size_t length = 0;
    const Stop stop = stop_here(data.substr(at), complete, length);
    if (stop == Stop::More) return stop;
    if (stop == Stop::End) {
      text += c;
      ++at;
      continue;
    }
    data.remove_prefix(at + length);
    stopped = stop;
    break;
  }
  const bool word_null = !escaped && !format_.enclosed.empty() && text == "NULL";
  if (!quoted && (word_null || (is_null && text == "N")))
    into.reset();
  else
    into = std::move(text);
  return stopped;
}

LoadFormat::Outcome LoadFormat::next(std::string_view& data, bool complete, Fields& fields) const {
  std::string_view rest = data;
  if (!format_.lines_starting.empty()) {
    const size_t start = rest.find(format_.lines_starting);
    if (start == std::string_view::npos) {
      if (complete) data = {};
      return complete ? Outcome::End : Outcome::More;
    }
    rest.remove_prefix(start + format_.lines_starting.size());
  } else if (rest.empty()) {
    return complete ? Outcome::End : Outcome::More;
  }
  fields.clear();
  for (;;) {
    std::optional<std::string> text;
    const Stop stop = field(rest, complete, text);
    if (stop == Stop::More) return Outcome::More;
    fields.push_back(std::move(text));
    if (stop == Stop::Line) break;
  }
  data = rest;
  return Outcome::Line;
}

}  // namespace commitd::sql
