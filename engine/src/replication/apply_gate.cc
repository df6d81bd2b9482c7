#include "replication/apply_gate.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "binlog/source_place.h"
#include "binlog/transaction_scanner.h"
#include "replication/commit_time.h"

namespace commitd::replication {
namespace {

using Gate = binlog::CommitPipeline::Gate;

constexpr auto kLook = std::chrono::milliseconds(5);
constexpr auto kLookAtTheTime = std::chrono::milliseconds(100);
constexpr size_t kReadSize = 1 << 20;
constexpr uint64_t kFirstEventAt = 4;
constexpr uint64_t kMostReadAtOnce = 64ull << 20;

// The time of day, as the source's commits are told.
uint64_t committed_by(std::chrono::seconds delay) {
  const uint64_t now = now_microseconds();
  const auto before = static_cast<uint64_t>(std::chrono::microseconds(delay).count());
  return now - std::min(now, before);
}

void begin_entry(ReceivedEntry& entry, const binlog::EventView& gtid, const binlog::SourcePlaceReader& places,
                 uint64_t series) {
  const CommitTime time = commit_time_of(gtid, true);
  entry.committed_at = time.immediate;
  entry.first_committed_at = time.original;
  const auto& place = places.place();
  if (!place || place->series != series) return;
  entry.source_file = place->file;
  entry.source_begin = place->begin;
  entry.source_position = place->end;
}

}  // namespace

Status ApplyGate::attach(binlog::CommitPipeline& pipeline, const ApplyRule& rule, const Received& received) {
  pipeline_ = &pipeline;
  series_ = received.series;
  if (received.stand || rule != ApplyRule{}) COMMITD_RETURN_IF_ERROR(find_received(received));
  uint64_t generation = 0;
  {
    MutexLock lock(mutex_);
    rule_ = rule;
    generation = ++generation_;
    if (rule == ApplyRule{}) return {};
    allowed_to_ = pipeline.durable_end();
  }
  pipeline.set_gate(Gate::Gated);
  if (rule.held) {
    pipeline.freeze();
  } else {
    let_through_what_is_due(generation);
    reactor_->spawn(watch_the_time(shared_from_this(), generation));
  }
  return {};
}

Task<void> ApplyGate::set(ApplyRule rule) {
  uint64_t generation = 0;
  bool was_held = false;
  LogPosition due_at_first;
  {
    MutexLock lock(mutex_);
    if (rule_ == rule) co_return;
    was_held = rule_.held;
    rule_ = rule;
    generation = ++generation_;
    due_at_first = due_ = pipeline_->applied_end();  // first: what is executed is then as much at least
    until_.reset();
    if (rule.until) begin_until(*rule.until);
    if (rule == ApplyRule{}) {
      let_everything_through();
    } else {
      pipeline_->set_gate(Gate::Gated);
    }
  }
  if (rule.held && !was_held) {
    pipeline_->freeze();
    while (!pipeline_->frozen()) co_await sleep_until(Clock::now() + kLook);
  }
  // Acknowledged may be more than UNTIL lets through: from before the applier was stopped.
  pipeline_->limit_apply(rule.until ? std::optional(due_at_first) : std::nullopt);
  if (!rule.held && was_held) pipeline_->thaw();
  if (rule.waits()) reactor_->spawn(watch_the_time(shared_from_this(), generation));
}

ApplyRule ApplyGate::rule() const {
  MutexLock lock(mutex_);
  return rule_;
}

void ApplyGate::source_is(bool tells) {
  MutexLock lock(mutex_);
  source_tells_ = tells;
  allowed_through_ = {};
  if (rule_ == ApplyRule{}) pipeline_->set_gate(tells ? Gate::Gated : Gate::Immediate);
}

void ApplyGate::log_was_cut() {
  received_.cut(pipeline_->durable_end());
  MutexLock lock(mutex_);
  allowed_to_ = std::min(allowed_to_, pipeline_->durable_end());
  due_ = std::min(due_, pipeline_->durable_end());
  allowed_through_ = {};
}

void ApplyGate::log_was_reset() {
  received_.clear();
  MutexLock lock(mutex_);
  allowed_to_ = due_ = {};
  allowed_through_ = {};
}

void ApplyGate::allow(LogPosition up_to) {
  MutexLock lock(mutex_);
  allowed_to_ = std::max(allowed_to_, up_to);
  if (rule_ == ApplyRule{}) pipeline_->acknowledge(up_to);
}

void ApplyGate::allow_through(const Gtid& gtid) {
  MutexLock lock(mutex_);
  allowed_through_ = gtid;
  if (rule_ == ApplyRule{}) pipeline_->acknowledge_through(gtid);
}

std::optional<uint64_t> ApplyGate::note_error() {
  const bool stopped = pipeline_->apply_error().has_value();
  MutexLock lock(mutex_);
  if (!stopped) {
    error_at_.reset();
  } else if (!error_at_) {
    error_at_ = now_microseconds();
  }
  return error_at_;
}

void ApplyGate::begin_until(const sql::ApplyUntil& until) {
  until_.emplace(until, pipeline_->gtid_executed());
  received_.trim(pipeline_->applied_end());
  if (const auto last = received_.last_applied()) until_->begins_at(last->source_file, last->source_position);
}

// As far as the source lets it.
void ApplyGate::let_everything_through() {
  pipeline_->set_gate(source_tells_ ? Gate::Gated : Gate::Immediate);
  pipeline_->acknowledge(allowed_to_);
  if (!allowed_through_.empty()) pipeline_->acknowledge_through(allowed_through_);
}

LogPosition ApplyGate::find_end_of_what_is_due() {
  const bool delays = rule_.delay != rule_.delay.zero();
  const uint64_t time = committed_by(rule_.delay);
  UntilCount* const until = until_ ? &*until_ : nullptr;
  due_ = received_.end_of_those(std::max(due_, pipeline_->applied_end()), [&](const ReceivedEntry& entry) {
    if (delays && entry.committed_at > time) return false;
    return until == nullptr ||
           until->lets_through(entry.gtid, {entry.source_file, entry.source_begin, entry.source_position});
  });
  return due_;
}

// Of one that is not remembered, though it is here and not applied, all that is remembered stands in front.
LogPosition ApplyGate::find_allowed_end() const {
  if (const auto found = received_.find(allowed_through_)) return *found;
  const auto end = received_.remembered_end();
  const bool left_out = end && !pipeline_->has_executed(allowed_through_) &&
                        pipeline_->gtid_logged().contains(allowed_through_);
  return left_out ? *end : LogPosition();
}

bool ApplyGate::until_is_reached() const {
  MutexLock lock(mutex_);
  return until_ && until_->is_over() && pipeline_->applied_end() >= due_;
}

bool ApplyGate::let_through_what_is_due(uint64_t generation) {
  trim_received();
  MutexLock lock(mutex_);
  if (generation_ != generation) return false;
  LogPosition due = find_end_of_what_is_due();
  if (until_) pipeline_->limit_apply(due);
  if (source_tells_) {
    if (!allowed_through_.empty()) allowed_to_ = std::max(allowed_to_, find_allowed_end());
    due = std::min(due, allowed_to_);
  }
  pipeline_->acknowledge(due);
  return true;
}

Task<void> ApplyGate::watch_the_time(std::shared_ptr<ApplyGate> self, uint64_t generation) {
  while (self->let_through_what_is_due(generation)) co_await sleep_until(Clock::now() + kLookAtTheTime);
}

void ApplyGate::begin_places(uint64_t series, const SourceStand& stand) {
  series_ = series;
  received_.begin_at(stand, pipeline_->applied_end());
}

// Nothing is written meanwhile.
Status ApplyGate::find_received(const Received& received) {
  const LogPosition applied = pipeline_->applied_end();
  LogPosition from = applied;
  if (received.stand) {
    received_.begin_at(*received.stand, applied);
    auto files = pipeline_->log().files();
    if (!files) return std::move(files).error();
    const LogPosition first{files->front().number, kFirstEventAt};
    from = std::max(first, std::min(applied, received.stand->as_of));
  }
  return read_log(from, std::numeric_limits<uint64_t>::max(), [&](ReceivedEntry entry) {
    const LogPosition end = entry.end;
    received_.note(std::move(entry));
    if (end <= applied) received_.trim(end);
    return true;
  });
}

void ApplyGate::trim_received() {
  MutexLock reading(remembering_);
  received_.trim(pipeline_->applied_end());
  const auto begin = received_.left_out_behind();
  if (!begin) return;
  const Status read = read_log(*begin, kMostReadAtOnce, [this](ReceivedEntry entry) {
    return received_.note_left_out(std::move(entry));
  });
  if (!read.ok()) spdlog::error("what was received and waits cannot be read: {}", read.error().message);
}

Result<GtidSet> ApplyGate::received_behind(LogPosition begin) const {
  GtidSet gtids;
  COMMITD_RETURN_IF_ERROR(
      read_log(begin, std::numeric_limits<uint64_t>::max(), [&](const ReceivedEntry& entry) {
        if (!entry.gtid.empty()) gtids.add(entry.gtid);
        return true;
      }));
  return gtids;
}

// From the end of a transaction on.
Status ApplyGate::read_log(LogPosition from, uint64_t most_bytes, const Visit& visit) const {
  const LogPosition to = pipeline_->durable_end();
  binlog::TransactionScanner scanner;
  binlog::SourcePlaceReader places;
  ReceivedEntry entry;
  for (uint64_t bytes = 0; from < to && bytes < most_bytes;) {
    auto chunk = pipeline_->log().read(from, to, kReadSize);
    if (!chunk) return std::move(chunk).error();
    if (chunk->bytes.empty()) break;
    bytes += chunk->bytes.size();
    uint64_t offset = chunk->start.offset;
    for (std::string_view rest = chunk->bytes; !rest.empty();) {
      auto event = binlog::parse_event(rest);
      if (!event) return std::move(event).error();
      auto place = scanner.feed(*event, offset);
      if (!place) return std::move(place).error();
      places.feed(*event);
      offset += event->bytes.size();
      rest.remove_prefix(event->bytes.size());
      if (*place == binlog::TransactionScanner::Place::First) begin_entry(entry, *event, places, series_);
      if (!binlog::TransactionScanner::completes(*place)) continue;
      entry.gtid = scanner.transaction().gtid;
      entry.end = {chunk->start.file, offset};
      if (!visit(std::exchange(entry, {}))) return {};
    }
    from = {chunk->start.file, offset};
  }
  return {};
}

}  // namespace commitd::replication
