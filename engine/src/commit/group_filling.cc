// What a commit group is made of: GTIDs, then bytes.
#include <ctime>

#include "base/error_codes.h"
#include "binlog/transaction_scanner.h"
#include "commit/commit_group.h"
#include "commit/time_of_day.h"

namespace commitd::binlog {
namespace {

uint64_t epoch_inside(std::string_view events) {
  uint64_t epoch = 0;
  while (!events.empty()) {
    auto event = parse_event(events);
    if (!event) break;
    if (auto of_event = epoch_of(*event)) epoch = *of_event;
    events.remove_prefix(event->bytes.size());
  }
  return epoch;
}

Error gtid_taken(const Gtid& gtid) {
  return make_error(er::kErrorDuringCommit,
                    "Another session has committed transaction {} meanwhile; this one was rolled back",
                    gtid.to_string());
}

Error gtid_too_low(const Gtid& gtid, uint64_t next) {
  return make_error(
      er::kErrorDuringCommit,
      "@@SESSION.GTID_NEXT is {}, a GTID of this server's own: their numbers only grow, the next "
      "one is {}",
      gtid.to_string(), next);
}

Error gno_exhausted() {
  return make_error(er::kGnoExhausted,
                    "Impossible to generate GTID: the integer component reached the maximum value. Restart "
                    "the server with a new server_uuid");
}

Error why_refused(const Gtid& gtid, const GroupNumbers& numbers, GroupNumbers::Verdict verdict) {
  switch (verdict) {
    case GroupNumbers::Verdict::Exhausted:
      return gno_exhausted();
    case GroupNumbers::Verdict::TooLow:
      return gtid_too_low(gtid, numbers.next());
    default:
      return gtid_taken(gtid);
  }
}

}  // namespace

// Received ones come first, and local ones in the order of the queue, but for those that are refused.
std::vector<CommitPipeline::Impl::Refused> CommitPipeline::Impl::number(Group& group) {
  GroupNumbers numbers = order.numbers();
  for (const ReceivedTransaction& received : group.batch.received)
    group.known.push_back(!numbers.take(received.gtid));
  std::vector<Refused> refused;
  std::erase_if(group.batch.local, [&](LocalCommit* commit) {
    CommitRequest& request = *commit->request;
    if (!request.ship && !numbers.exhausted()) return false;
    const auto verdict = numbers.give(request.gtid);
    if (verdict == GroupNumbers::Verdict::Given) return false;
    refused.push_back({commit, why_refused(request.gtid, numbers, verdict)});
    return true;
  });
  group.next_gno = numbers.next();
  group.acknowledged = order.acknowledged_end();
  return refused;
}

void CommitPipeline::Impl::fill_group(Group& group) {
  const EventOrigin origin{options.server_id, static_cast<uint32_t>(std::time(nullptr))};
  const bool earlier_is_durable = written_groups_ == synced_groups_;
  GroupBuilder builder(log->end(), origin, clock_,
                       {group_number_ + 1, group.acknowledged, earlier_is_durable});
  for (size_t i = 0; i < group.batch.received.size() && !group.invalid; ++i) {
    ReceivedTransaction& received = group.batch.received[i];
    if (group.known[i]) {
      group.duplicates.push_back(received.on_durable);
    } else {
      add_received(group, builder, received);
    }
  }
  if (group.invalid) return;
  const uint64_t timestamp = now_microseconds();
  for (LocalCommit* commit : group.batch.local) add_local(group, builder, *commit, timestamp);
  group.bytes = builder.take();
}

void CommitPipeline::Impl::add_received(Group& group, GroupBuilder& builder, ReceivedTransaction& received) {
  const bool spilled = received.events.on_disk() != 0;
  auto placed =
      spilled ? builder.add_received_spilled(received.events) : builder.add_received(received.events.tail());
  if (!placed) {
    group.invalid = std::move(placed).error();
    return;
  }
  if (spilled) group.spilled = &received.events;
  const uint64_t epoch = spilled ? 0 : epoch_inside(received.events.tail());
  group.received.emplace_back(group.transactions.size(), received.on_durable);
  group.transactions.push_back({placed->start, placed->end, received.gtid, epoch, nullptr, {}, true});
}

void CommitPipeline::Impl::add_local(Group& group, GroupBuilder& builder, LocalCommit& commit,
                                     uint64_t timestamp) {
  CommitRequest& request = *commit.request;
  if (!request.ship) {
    const auto placed = builder.add_unshipped(*request.events);
    group.transactions.push_back({placed.start, placed.end, {}, 0, &commit, {}});
    return;
  }
  const auto placed =
      builder.add_local(*request.events, request.gtid, timestamp, group.sequence_of(request.seen.order));
  if (request.events->spilled()) group.spilled = &request.events->spool();
  group.transactions.push_back({placed.start, placed.end, request.gtid, request.epoch, &commit, {}});
  if (commit.ordered.order != 0) group.sequences.emplace_back(commit.ordered.order, clock_.sequence);
}

// Neither is let in without a log; one may have been on its way when that failed.
void CommitPipeline::Impl::fill_group_without_log(Group& group) {
  const auto of_epoch = [](const LocalCommit* commit) { return commit->request->epoch != 0; };
  if (!group.batch.received.empty() ||
      std::any_of(group.batch.local.begin(), group.batch.local.end(), of_epoch)) {
    group.invalid = make_error(er::kErrorOnWrite,
                               "Neither an epoch nor what was received can be committed without the log");
    return;
  }
  for (LocalCommit* commit : group.batch.local)
    group.transactions.push_back({{}, {}, commit->request->gtid, 0, commit, {}});
}

// What is taken in parts could not be completed by a start without the log.
bool CommitPipeline::Impl::needs_log(const Group& group) {
  return std::any_of(group.batch.local.begin(), group.batch.local.end(), [](const LocalCommit* commit) {
    return commit->request->writes != nullptr && commit->request->writes->spilled();
  });
}

}  // namespace commitd::binlog
