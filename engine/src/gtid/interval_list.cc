#include "gtid/interval_list.h"

#include <algorithm>

namespace commitd {

IntervalList::IntervalList(const GtidSet& set) {
  List* list = nullptr;
  List::iterator last;
  set.for_each_interval([&](const GtidInterval& one) {
    if (List& of_sid = lists_[one.sid]; list != &of_sid) {
      list = &of_sid;
      last = list->before_begin();
    }
    last = list->insert_after(last, {one.start, one.end});
    ++count_;
  });
}

bool IntervalList::contains(const List& list, const Interval& wanted, uint64_t& walked) {
  for (const Interval& one : list) {
    ++walked;
    if (one.end >= wanted.end) return one.start <= wanted.start;
  }
  return false;
}

void IntervalList::add(List& list, Interval added, uint64_t& walked) {
  auto before = list.before_begin();
  auto at = list.begin();
  for (; at != list.end() && at->end < added.start; before = at++) ++walked;
  while (at != list.end() && at->start <= added.end) {
    ++walked;
    added = {std::min(added.start, at->start), std::max(added.end, at->end)};
    at = list.erase_after(before);
    --count_;
  }
  list.insert_after(before, added);
  ++count_;
}

uint64_t IntervalList::persist(const GtidSet& written) {
  uint64_t walked = 0;
  written.for_each_interval([&](const GtidInterval& one) {
    List& list = lists_[one.sid];
    const Interval interval{one.start, one.end};
    if (!contains(list, interval, walked)) add(list, interval, walked);
  });
  return walked;
}

GtidSet IntervalList::to_set() const {
  GtidSet set;
  for (const auto& [sid, list] : lists_) {
    for (const Interval& one : list) set.add_interval(sid, one.start, one.end);
  }
  return set;
}

}  // namespace commitd
