#include "replication/applied_marks.h"

namespace commitd::replication {

void AppliedMarks::came(uint64_t number, uint64_t handed) {
  wanted_ = number != 0;
  if (wanted_) {
    marks_.add({number, handed});
  } else {
    marks_.clear();
  }
}

void AppliedMarks::durable(uint64_t transactions, LogPosition end) {
  for (Mark& mark : marks_) {
    if (mark.handed > transactions) return;
    if (!std::exchange(mark.is_durable, true)) mark.end = end;
  }
}

uint64_t AppliedMarks::applied(LogPosition end, bool all) {
  while (!marks_.empty() && marks_.front().is_durable && (all || marks_.front().end <= end)) {
    applied_ = marks_.front().number;
    marks_.pop_front();
  }
  return applied_;
}

}  // namespace commitd::replication
