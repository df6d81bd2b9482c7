#include "commit/progress_waits.h"

#include "commit/commit_wakeup.h"

namespace commitd::binlog {

void ProgressWaits::add(Wait& wait) {
  wait.listed = true;
  list_of(wait.bound).push_back(&wait);
}

void ProgressWaits::remove(Wait& wait) {
  if (!wait.listed) return;
  for (List* waits : {&durable_, &acknowledged_, &executed_}) waits->remove(&wait);
  wait.listed = false;
}

template <class Reached>
void ProgressWaits::wake_where(List& waits, Reached reached) {
  for (auto it = waits.begin(); it != waits.end();) {
    Wait& wait = **it;
    wait.reached = reached(wait);
    if (!wait.reached && !wake_everybody_) {
      ++it;
      continue;
    }
    it = waits.erase(it);
    wait.listed = false;
    count_wakeup();
    wait.parker.wake();
  }
}

void ProgressWaits::moved(CommitPipeline::Bound bound, LogPosition to) {
  wake_where(list_of(bound), [to](const Wait& wait) { return wait.beyond < to; });
}

void ProgressWaits::executed(const GtidSet& set) {
  wake_where(executed_, [&set](const Wait& wait) { return set.contains(wait.executed); });
}

void ProgressWaits::wake_readers() {
  for (List* waits : {&durable_, &acknowledged_}) wake_where(*waits, [](const Wait&) { return true; });
}

void ProgressWaits::stop() {
  for (List* waits : {&durable_, &acknowledged_, &executed_}) {
    for (Wait* wait : *waits) {
      wait->listed = false;
      wait->parker.wake();
    }
    waits->clear();
  }
}

}  // namespace commitd::binlog
