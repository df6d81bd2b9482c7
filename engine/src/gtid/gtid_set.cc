#include "gtid/gtid_set.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/error_codes.h"

namespace commitd {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// Takes the piece up to the next separator off the front.
std::string_view next_piece(std::string_view& rest, char separator) {
  const size_t end = std::min(rest.find(separator), rest.size());
  std::string_view piece = trim(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return piece;
}

std::optional<uint64_t> parse_gno(std::string_view text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end || value > kMaxGno) return std::nullopt;
  return value;
}

Error malformed(std::string_view text) {
  return make_error(er::kWrongArguments, "Malformed GTID set specification '{}'", text);
}

struct Interval {
  uint64_t start = 0, end = 0;  // end exclusive
};

// "5" or "5-9"; 0 is no transaction number.
std::optional<Interval> parse_interval(std::string_view text) {
  const size_t dash = text.find('-');
  const auto first = parse_gno(trim(text.substr(0, dash)));
  const auto last = dash == std::string_view::npos ? first : parse_gno(trim(text.substr(dash + 1)));
  if (!first || !last || *first == 0) return std::nullopt;
  return Interval{*first, *last + 1};  // MySQL takes "5-3" as nothing
}

// Those of `many` that some of `few` touch, and no search for the others.
template <class Intervals>
std::vector<Interval> overlaps(const Intervals& few, const Intervals& many) {
  std::vector<Interval> overlaps;
  for (const auto& [start, end] : few) {
    auto at = many.upper_bound(start);
    if (at != many.begin() && std::prev(at)->second > start) --at;
    for (; at != many.end() && at->first < end; ++at) overlaps.push_back({at->first, at->second});
  }
  return overlaps;
}

}  // namespace

std::string Gtid::to_string() const {
  return fmt::format("{}:{}", sid.to_string(), gno);
}

Result<Gtid> Gtid::parse(std::string_view text) {
  std::string_view rest = trim(text);
  const auto sid = Uuid::parse(next_piece(rest, ':'));
  const auto gno = parse_gno(trim(rest));
  if (!sid || !gno || *gno == 0)
    return make_error(er::kWrongArguments, "Malformed GTID specification '{}'", text);
  return Gtid{*sid, *gno};
}

Result<GtidSet> GtidSet::parse(std::string_view text) {
  GtidSet set;
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view of_one_sid = next_piece(rest, ',');
    if (of_one_sid.empty()) continue;
    const auto sid = Uuid::parse(next_piece(of_one_sid, ':'));
    if (!sid || of_one_sid.empty()) return malformed(text);
    while (!of_one_sid.empty()) {
      const auto interval = parse_interval(next_piece(of_one_sid, ':'));
      if (!interval) return malformed(text);
      if (interval->start < interval->end) set.add_interval(*sid, interval->start, interval->end);
    }
  }
  return set;
}

Result<GtidSet> GtidSet::decode(std::string_view binary) {
  GtidSet set;
  ByteReader reader(binary);
  const uint64_t sids = reader.le64();
  for (uint64_t i = 0; i < sids && reader.ok(); ++i) {
    Uuid sid;
    const std::string_view bytes = reader.bytes(sid.bytes.size());
    std::copy(bytes.begin(), bytes.end(), sid.bytes.begin());
    const uint64_t intervals = reader.le64();
    for (uint64_t j = 0; j < intervals && reader.ok(); ++j) {
      const uint64_t start = reader.le64();
      const uint64_t end = reader.le64();
      if (!reader.ok() || start == 0 || start >= end || end > kMaxGno + 1) return malformed("(binary)");
      set.add_interval(sid, start, end);
    }
  }
  if (!reader.ok() || !reader.rest().empty()) return malformed("(binary)");
  return set;
}

std::string GtidSet::to_string() const {
  std::string text;
  for (const auto& [sid, intervals] : intervals_) {
    if (!text.empty()) text += ",\n";
    text += sid.to_string();
    for (const auto& [start, end] : intervals) {
      text += start + 1 == end ? fmt::format(":{}", start) : fmt::format(":{}-{}", start, end - 1);
    }
  }
  return text;
}

std::string GtidSet::encode() const {
  std::string binary;
  ByteWriter w(binary);
  w.le64(intervals_.size());
  for (const auto& [sid, intervals] : intervals_) {
    binary.append(reinterpret_cast<const char*>(sid.bytes.data()), sid.bytes.size());
    w.le64(intervals.size());
    for (const auto& [start, end] : intervals) {
      w.le64(start);
      w.le64(end);
    }
  }
  return binary;
}

void GtidSet::add_interval(const Uuid& sid, uint64_t start, uint64_t end) {
  if (start >= end) return;
  Intervals& intervals = intervals_[sid];
  auto it = intervals.upper_bound(start);
  if (it != intervals.begin()) {
    auto before = std::prev(it);
    if (before->second >= end) return;
    if (before->second >= start) {  // touches: grows to the right
      start = before->first;
      it = before;
    }
  }
  while (it != intervals.end() && it->first <= end) {
    end = std::max(end, it->second);
    it = intervals.erase(it);
  }
  intervals.emplace_hint(it, start, end);
}

void GtidSet::add(const GtidSet& other) {
  for (const auto& [sid, intervals] : other.intervals_) {
    for (const auto& [start, end] : intervals) add_interval(sid, start, end);
  }
}

void GtidSet::subtract_interval(const Uuid& sid, uint64_t start, uint64_t end) {
  if (start >= end) return;
  const auto found = intervals_.find(sid);
  if (found == intervals_.end()) return;
  Intervals& intervals = found->second;
  auto it = intervals.upper_bound(start);
  if (it != intervals.begin() && std::prev(it)->second > start) --it;
  while (it != intervals.end() && it->first < end) {
    const Interval old{it->first, it->second};
    it = intervals.erase(it);
    if (old.start < start) it = std::next(intervals.emplace(old.start, start).first);
    if (old.end > end) it = std::next(intervals.emplace(end, old.end).first);
  }
  if (intervals.empty()) intervals_.erase(found);
}

// At the cost of the smaller of both.
void GtidSet::subtract(const GtidSet& other) {
  for (const auto& [sid, theirs] : other.intervals_) {
    const auto found = intervals_.find(sid);
    if (found == intervals_.end()) continue;
    if (theirs.size() <= found->second.size()) {
      for (const auto& [start, end] : theirs) subtract_interval(sid, start, end);
    } else {
      for (const Interval& common : overlaps(found->second, theirs))
        subtract_interval(sid, common.start, common.end);
    }
  }
}

GtidSet::Growth GtidSet::growth(const GtidSet& other) const {
  static const Intervals kNone;
  Growth growth;
  for (const auto& [sid, added] : other.intervals_) {
    const auto found = intervals_.find(sid);
    const Intervals& before = found == intervals_.end() ? kNone : found->second;
    for (auto next = added.begin(); next != added.end();) {
      Interval made{next->first, next->second};
      ++next;
      auto at = before.upper_bound(made.start);
      if (at != before.begin() && std::prev(at)->second >= made.start) {
        if (std::prev(at)->second >= made.end) continue;
        made.start = std::prev(at)->first;
      }
      for (;;) {
        if (at != before.end() && at->first <= made.end) {
          growth.swallowed.push_back({sid, at->first, at->second});
          made.end = std::max(made.end, (at++)->second);
        } else if (next != added.end() && next->first <= made.end) {
          made.end = std::max(made.end, (next++)->second);
        } else {
          break;
        }
      }
      growth.made.push_back({sid, made.start, made.end});
    }
  }
  return growth;
}

size_t GtidSet::interval_count() const {
  size_t count = 0;
  for (const auto& [sid, intervals] : intervals_) count += intervals.size();
  return count;
}

bool GtidSet::contains_interval(const Uuid& sid, uint64_t start, uint64_t end) const {
  const auto found = intervals_.find(sid);
  if (found == intervals_.end()) return false;
  auto it = found->second.upper_bound(start);
  return it != found->second.begin() && std::prev(it)->second >= end;
}

bool GtidSet::contains(const Gtid& gtid) const {
  return contains_interval(gtid.sid, gtid.gno, gtid.gno + 1);
}

bool GtidSet::contains(const GtidSet& other) const {
  for (const auto& [sid, intervals] : other.intervals_) {
    for (const auto& [start, end] : intervals) {
      if (!contains_interval(sid, start, end)) return false;
    }
  }
  return true;
}

uint64_t GtidSet::count() const {
  uint64_t total = 0;
  for (const auto& [sid, intervals] : intervals_) {
    for (const auto& [start, end] : intervals) total += end - start;
  }
  return total;
}

uint64_t GtidSet::last(const Uuid& sid) const {
  const auto found = intervals_.find(sid);
  return found == intervals_.end() ? 0 : std::prev(found->second.end())->second - 1;
}

}  // namespace commitd
