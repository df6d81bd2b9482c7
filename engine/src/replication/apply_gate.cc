#include "replication/apply_gate.h"

#include <algorithm>

#include "binlog/transaction_scanner.h"
#include "replication/commit_time.h"

namespace commitd::replication {
namespace {

using Gate = binlog::CommitPipeline::Gate;

constexpr auto kLook = std::chrono::milliseconds(5);
constexpr auto kLookAtTheTime = std::chrono::milliseconds(100);
constexpr size_t kReadSize = 1 << 20;

// The time of day, as the source's commits are told.
uint64_t committed_by(std::chrono::seconds delay) {
  const uint64_t now = now_microseconds();
  const auto before = static_cast<uint64_t>(std::chrono::microseconds(delay).count());
  return now - std::min(now, before);
}

}  // namespace

Status ApplyGate::attach(binlog::CommitPipeline& pipeline, const ApplyRule& rule) {
  pipeline_ = &pipeline;
  uint64_t generation = 0;
  {
    MutexLock lock(mutex_);
    rule_ = rule;
    generation = ++generation_;
    if (rule == ApplyRule{}) return {};
    allowed_to_ = pipeline.durable_end();
  }
  pipeline.set_gate(Gate::Gated);
  COMMITD_RETURN_IF_ERROR(find_what_waits());
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
    if (rule.until) until_.emplace(*rule.until, pipeline_->gtid_executed());
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
    return until == nullptr || until->lets_through(entry.gtid);
  });
  return due_;
}

bool ApplyGate::until_is_reached() const {
  MutexLock lock(mutex_);
  return until_ && until_->is_over() && pipeline_->applied_end() >= due_;
}

bool ApplyGate::let_through_what_is_due(uint64_t generation) {
  MutexLock lock(mutex_);
  if (generation_ != generation) return false;
  LogPosition due = find_end_of_what_is_due();
  if (until_) pipeline_->limit_apply(due);
  if (source_tells_) {
    if (!allowed_through_.empty())
      allowed_to_ = std::max(allowed_to_, received_.find(allowed_through_).value_or(LogPosition()));
    due = std::min(due, allowed_to_);
  }
  pipeline_->acknowledge(due);
  return true;
}

Task<void> ApplyGate::watch_the_time(std::shared_ptr<ApplyGate> self, uint64_t generation) {
  while (self->let_through_what_is_due(generation)) co_await sleep_until(Clock::now() + kLookAtTheTime);
}

// Nothing is written meanwhile.
Status ApplyGate::find_what_waits() {
  const LogPosition to = pipeline_->durable_end();
  LogPosition from = pipeline_->applied_end();
  binlog::TransactionScanner scanner;
  ReceivedEntry entry;
  while (from < to) {
    auto chunk = pipeline_->log().read(from, to, kReadSize);
    if (!chunk) return std::move(chunk).error();
    if (chunk->bytes.empty()) break;
    uint64_t offset = chunk->start.offset;
    for (std::string_view rest = chunk->bytes; !rest.empty();) {
      auto event = binlog::parse_event(rest);
      if (!event) return std::move(event).error();
      auto place = scanner.feed(*event, offset);
      if (!place) return std::move(place).error();
      offset += event->bytes.size();
      rest.remove_prefix(event->bytes.size());
      if (*place == binlog::TransactionScanner::Place::First) {
        const CommitTime time = commit_time_of(*event, true);
        entry.committed_at = time.immediate;
        entry.first_committed_at = time.original;
      }
      if (!binlog::TransactionScanner::completes(*place)) continue;
      entry.gtid = scanner.transaction().gtid;
      entry.end = {chunk->start.file, offset};
      received_.note(entry);
      entry = {};
    }
    from = {chunk->start.file, offset};
  }
  return {};
}

}  // namespace commitd::replication
