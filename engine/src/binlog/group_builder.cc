#include "binlog/group_builder.h"

#include <algorithm>

#include "base/error_codes.h"
#include "binlog/source_place.h"

namespace commitd::binlog {
namespace {

// The one that begins at `at`, or what is there of it.
Result<std::string> read_event(const EventSpool& events, size_t at) {
  std::string event(std::min(events.size() - at, kHeaderLength), '\0');
  COMMITD_RETURN_IF_ERROR(events.read(at, event));
  event.resize(std::min(events.size() - at, event_length(event)));
  COMMITD_RETURN_IF_ERROR(events.read(at, event));
  return event;
}

}  // namespace

GroupBuilder::GroupBuilder(LogPosition start, EventOrigin origin, LogicalClock& clock, const GroupOpen& open)
    : start_(start), origin_(origin), clock_(clock) {
  clock_.group_parent = clock_.sequence;
  append_group_open(*bytes_, origin_, open);
  seal_from(0);
}

GroupBuilder::Placed GroupBuilder::seal_from(size_t offset) {
  // Only events that were just written or checked come here: sealing cannot fail.
  (void)seal_events(bytes_->data() + offset, bytes_->size() - offset, start_.offset + offset);
  return {{start_.file, start_.offset + offset}, {start_.file, start_.offset + bytes_->size()}};
}

GroupBuilder::Placed GroupBuilder::add_local(TransactionBuffer& events, const Gtid& gtid,
                                             uint64_t commit_timestamp, int64_t behind) {
  const size_t offset = bytes_->size();
  GtidEvent event;
  event.gtid = gtid;
  event.last_committed = std::max(clock_.group_parent, behind);
  event.sequence_number = ++clock_.sequence;
  event.immediate_commit_timestamp = event.original_commit_timestamp = commit_timestamp;
  event.transaction_length = whole_transaction_length(events.size(), event);
  append_gtid(*bytes_, {events.context().server_id, origin_.timestamp}, event, events.row_events_only());
  if (!events.spilled()) {
    *bytes_ += events.bytes();
    return seal_from(offset);
  }
  Placed placed = seal_from(offset);
  placed.end.offset += events.size();
  return placed;
}

GroupBuilder::Placed GroupBuilder::add_unshipped(TransactionBuffer& events) {
  const size_t offset = bytes_->size();
  (void)seal_events(events.bytes().data(), events.bytes().size(), 0);
  append_own(*bytes_, origin_, OwnKind::LocalOnly, events.bytes());
  return seal_from(offset);
}

Result<GroupBuilder::Placed> GroupBuilder::add_received(std::string_view events) {
  const size_t begin = source_place_length(events);
  for (size_t done = 0; done < events.size();) {
    auto event = parse_event(events.substr(done));
    if (!event) return std::move(event).error();
    if (done == begin && (event->header.type != EventType::Gtid || !parse_gtid_event(*event, true).ok())) {
      return make_error(er::kErrorOnRead, "A received transaction does not start with a GTID event");
    }
    if (event->bytes.size() < kHeaderLength + kChecksumLength) {
      return make_error(er::kErrorOnRead, "A received event of {} bytes has no checksum",
                        event->bytes.size());
    }
    done += event->bytes.size();
  }
  return place_received(events);
}

Result<GroupBuilder::Placed> GroupBuilder::add_received_spilled(const EventSpool& events) {
  auto head = read_event(events, 0);
  if (!head) return std::move(head).error();
  if (source_place_length(*head) != 0) {
    auto gtid = read_event(events, head->size());
    if (!gtid) return std::move(gtid).error();
    *head += *gtid;
  }
  auto placed = add_received(*head);
  if (placed.ok()) placed->end.offset += events.size() - head->size();
  return placed;
}

GroupBuilder::Placed GroupBuilder::place_received(std::string_view events) {
  const size_t offset = bytes_->size(), begin = source_place_length(events);
  *bytes_ += events;
  // Whatever the source's groups were, ours say nothing about them: one after the other.
  clock_.group_parent = clock_.sequence;
  patch_logical_clock(bytes_->data() + offset + begin, clock_.group_parent, ++clock_.sequence);
  clock_.group_parent = clock_.sequence;
  Placed placed = seal_from(offset);
  placed.start.offset += begin;
  return placed;
}

}  // namespace commitd::binlog
