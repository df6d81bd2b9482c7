#include "log/recent_pages.h"

#include <algorithm>

namespace commitd::binlog {

void RecentPages::add(LogPosition start, std::shared_ptr<const std::string> bytes) {
  total_ += bytes->size();
  pages_.push_back({start, std::move(bytes)});
  while (total_ > capacity_ && !pages_.empty()) {
    total_ -= pages_.front().bytes->size();
    pages_.pop_front();
  }
}

std::optional<RecentPages::Page> RecentPages::find(LogPosition position) const {
  auto behind = std::upper_bound(pages_.begin(), pages_.end(), position,
                                 [](LogPosition wanted, const Page& page) { return wanted < page.start; });
  if (behind == pages_.begin()) return std::nullopt;
  const Page& page = *std::prev(behind);
  if (position >= page.end()) return std::nullopt;
  return page;
}

void RecentPages::drop_behind(LogPosition position) {
  while (!pages_.empty() && pages_.back().end() > position) {
    total_ -= pages_.back().bytes->size();
    pages_.pop_back();
  }
}

}  // namespace commitd::binlog
