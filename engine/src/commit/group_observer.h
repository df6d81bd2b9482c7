// Who is told by the log thread what becomes of each group. Must not wait for the pipeline.
#pragma once

#include <string>

#include "base/log_position.h"

namespace commitd::binlog {

class GroupObserver {
 public:
  virtual ~GroupObserver() = default;
  // Whether anybody wants to know: asked for every group.
  virtual bool observes() const = 0;
  // A group ends at `end` of the file: it is written; it is durable.
  virtual void flushed(const std::string& log_file, LogPosition end) = 0;
  virtual void synced(const std::string& log_file, LogPosition end) = 0;
};

}  // namespace commitd::binlog
