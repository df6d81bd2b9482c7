#include "replication/until_count.h"

#include <charconv>
#include <utility>

namespace commitd::replication {

uint64_t log_file_number(std::string_view name) {
  const std::string_view digits = name.substr(name.rfind('.') + 1);
  uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

UntilCount::UntilCount(const sql::ApplyUntil& until, const GtidSet& executed)
    : until_(until), left_(until.gtids) {
  left_.subtract(executed);
  switch (until_.kind) {
    case Kind::AfterGtids:
      is_over_ = left_.empty();
      break;
    case Kind::BeforeGtids:
      is_over_ = left_ != until_.gtids;
      break;
    case Kind::AfterGaps:
      is_over_ = true;
      break;
    case Kind::SourcePlace:
      break;
  }
}

bool UntilCount::is_at_or_behind(std::string_view file, uint64_t position) const {
  return std::pair(log_file_number(file), position) >=
         std::pair(log_file_number(until_.file), until_.position);
}

void UntilCount::begins_at(std::string_view file, uint64_t position) {
  if (until_.kind == Kind::SourcePlace && !file.empty() && is_at_or_behind(file, position)) is_over_ = true;
}

bool UntilCount::lets_through(const Gtid& gtid, const PlaceAtSource& place) {
  if (is_over_) return false;
  if (until_.kind == Kind::SourcePlace) return lets_through_to_place(place);
  if (!left_.contains(gtid)) return true;
  if (until_.kind == Kind::BeforeGtids) {
    is_over_ = true;
    return false;
  }
  left_.subtract_interval(gtid.sid, gtid.gno, gtid.gno + 1);
  is_over_ = left_.empty();
  return true;
}

// One that the place is inside of is applied as a whole.
bool UntilCount::lets_through_to_place(const PlaceAtSource& place) {
  if (place.file.empty()) return true;
  is_over_ = is_at_or_behind(place.file, place.end);
  return !is_at_or_behind(place.file, place.begin);
}

}  // namespace commitd::replication
