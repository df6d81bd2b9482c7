#include "binlog/spilled_events.h"

#include <algorithm>

#include "base/bytes.h"
#include "binlog/event_writer.h"

namespace commitd::binlog {
namespace {

constexpr size_t kPiece = 1 << 20;

}  // namespace

Status SpilledEvents::fill(size_t length) {
  buffer_.resize(std::min(length, spool_.size() - next_));
  return spool_.read(next_, buffer_);
}

Result<std::string_view> SpilledEvents::next() {
  COMMITD_RETURN_IF_ERROR(fill(kPiece));
  size_t whole = whole_events(buffer_, buffer_.size());
  if (whole == 0) {  // the first event alone is larger
    COMMITD_RETURN_IF_ERROR(fill(event_length(buffer_)));
    whole = buffer_.size();
  }
  COMMITD_RETURN_IF_ERROR(seal_events(buffer_.data(), whole, shift_ + next_));
  next_ += whole;
  return std::string_view(buffer_).substr(0, whole);
}

}  // namespace commitd::binlog
