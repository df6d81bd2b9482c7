// The newest part of the log as it was written, one page per group, shared by all readers without copying.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/log_position.h"

namespace commitd::binlog {

class RecentPages {
 public:
  struct Page {
    LogPosition start;
    std::shared_ptr<const std::string> bytes;
    LogPosition end() const { return {start.file, start.offset + bytes->size()}; }
  };

  explicit RecentPages(uint64_t capacity) : capacity_(capacity) {}

  void add(LogPosition start, std::shared_ptr<const std::string> bytes);
  std::optional<Page> find(LogPosition position) const;  // the page that holds the byte at `position`
  void drop_behind(LogPosition position);                // pages that reach beyond it

 private:
  const uint64_t capacity_;
  uint64_t total_ = 0;
  std::deque<Page> pages_;  // in log order
};

}  // namespace commitd::binlog
