#include "commit/engine_stage.h"

#include <utility>

#include "base/check.h"
#include "base/error_codes.h"
#include "binlog/transaction_scanner.h"

namespace commitd::binlog {
namespace {

constexpr size_t kReadSize = 1 << 20;
// An engine batch made from events is not larger than this, so that replay needs bounded memory.
constexpr size_t kLargestBatch = 8 << 20;
// While others are made ahead: smaller batches keep both sides at work.
constexpr size_t kBatchAhead = 128;

bool changes_something(const WriteSet& writes) {
  return !writes.empty() || writes.spilled();
}

Error cut_off(const PendingTransaction& transaction) {
  return make_error(er::kErrorOnRead, "Transaction {} is cut off in the binary log",
                    transaction.gtid.to_string());
}

}  // namespace

Status begin_anew_at(storage::Engine& engine, LogPosition position) {
  storage::CommitStep step;
  step.position = position;
  step.replaces = true;
  WriteSet nothing;
  WriteSet* batch[] = {&nothing};
  COMMITD_RETURN_IF_ERROR(engine.commit_ordered(batch, step));
  return engine.checkpoint();
}

EngineStage::EngineStage(Source source, storage::Engine& engine, EventApplier& applier, Large large,
                         Taken taken)
    : log_(source.log),
      log_lock_(source.lock),
      engine_(engine),
      applier_(applier),
      large_(std::move(large)),
      taken_(std::move(taken)),
      gtid_persister_(storage::gtid_settings_of(engine),
                      [&engine] { return engine.commit_point().executed; }),
      ahead_(log_, applier, *large_.settings),
      place_(engine.commit_point()) {}

Result<EventApplier::Outcome> EventApplier::build_from(const Events& next, How how, WriteSet& writes) {
  std::string all;
  for (;;) {
    auto piece = next();
    if (!piece) return std::move(piece).error();
    if (piece->empty()) return build(all, how, writes);
    all += *piece;
  }
}

// Behind the last flush() another thread may already be in here with the next transactions.
Status EngineStage::apply(std::span<const PendingTransaction> transactions) {
  rest_ = transactions;
  unappliable_ = lacked_room_ = false;
  if (not_durable_ != 0) {
    COMMITD_RETURN_IF_ERROR(make_durable());
    transactions = rest_;
    if (transactions.empty()) return {};
  }
  ahead_.begin(transactions, place_.incomplete_up_to);
  Status added = add_all(transactions);
  ahead_.end();
  return added.ok() ? flush() : added;
}

// The last of them wait for a flush.
Status EngineStage::add_all(std::span<const PendingTransaction> transactions) {
  size_t built_bytes = 0;
  for (const PendingTransaction& transaction : transactions) {
    COMMITD_RETURN_IF_ERROR(add(transaction, transactions.back().end));
    if (&transaction == &transactions.back()) break;
    if (!built_.empty()) built_bytes += built_.back().byte_size();
    if (!batch_is_full(built_bytes)) continue;
    COMMITD_RETURN_IF_ERROR(flush());
    built_bytes = 0;
  }
  return {};
}

// What a DDL publishes must be there before the next transaction's events are looked at.
bool EngineStage::batch_is_full(size_t built_bytes) const {
  return !publish_.empty() || built_bytes > kLargestBatch || batch_.back()->spilled() ||
         (ahead_.is_active() && committer_ == nullptr && batch_.size() >= kBatchAhead);
}

Status EngineStage::advance(const Advance& to) {
  storage::CommitStep step{place_, to.executed};
  step.position = to.position;
  WriteSet nothing;
  WriteSet* batch[] = {&nothing};
  COMMITD_RETURN_IF_ERROR(engine_.commit_ordered(batch, step));
  place_ = step;
  return {};
}

Status EngineStage::restart_at(LogPosition position) {
  COMMITD_RETURN_IF_ERROR(begin_anew_at(engine_, position));
  place_ = {position};
  gtid_persister_.forget();
  return {};
}

Status EngineStage::add(const PendingTransaction& transaction, LogPosition readable_to) {
  EventApplier::Ahead* const ahead = ahead_.next_turn();
  if (transaction.local == nullptr) return add_by_events(transaction, readable_to, ahead);
  uncompared_ = true;
  CommitRequest& request = *transaction.local->request;
  if (request.publish) {
    COMMITD_RETURN_IF_ERROR(flush());
    publish_.push_back(request.publish);
  }
  if (request.writes == nullptr) {
    batch_.push_back(&built_.emplace_back());
  } else {
    if (request.writes->spilled()) COMMITD_RETURN_IF_ERROR(flush());
    keys_written_ += request.writes->entries().size();
    batch_.push_back(request.writes);
  }
  return {};
}

Status EngineStage::cannot_apply(const PendingTransaction& transaction, const Error& why) {
  COMMITD_RETURN_IF_ERROR(flush_and_wait());
  lacked_room_ = why.code == er::kDiskFull;  // of a temporary file
  unappliable_ = !lacked_room_;
  return make_error(why.code, "Cannot apply transaction {} at offset {} of '{}': {}",
                    transaction.gtid.to_string(), transaction.start.offset,
                    log_.file_name(transaction.start.file), why.message);
}

// A transaction that a crash caught between prepare and commit.
Result<bool> EngineStage::add_prepared(const PendingTransaction& transaction) {
  if (transaction.gtid.empty()) return false;
  auto writes = engine_.prepared_writes(transaction.gtid);
  if (!writes) return std::move(writes).error();
  if (!*writes) return false;
  keys_written_ += (*writes)->entries().size();
  batch_.push_back(&built_.emplace_back(std::move(**writes)));
  ++committed_prepared_;
  return true;
}

Status EngineStage::add_by_events(const PendingTransaction& transaction, LogPosition readable_to,
                                  EventApplier::Ahead* ahead) {
  // With binlog_order_commits=OFF a crash may have left it in the engine, and not one in front of it.
  if (transaction.skipped || (!transaction.gtid.empty() && engine_.has_executed(transaction.gtid))) {
    batch_.push_back(&built_.emplace_back());
    return {};
  }
  auto was_prepared = add_prepared(transaction);
  if (!was_prepared) return std::move(was_prepared).error();
  if (*was_prepared) {
    uncompared_ = true;
    return {};
  }
  auto how = how_to_build(transaction);
  if (!how.ok()) return std::move(how).error();
  if (is_large(transaction)) return add_large_by_events(transaction, *how);
  if (ahead != nullptr && ahead->compared == how->compare && applier_.take(*ahead)) {
    built_.push_back(std::move(ahead->writes));
    take_built({});
    return {};
  }
  if (ahead != nullptr) ahead_.reject();
  auto events = events_of(transaction, readable_to);
  if (!events) return std::move(events).error();
  auto outcome = applier_.build(unwrap_local(*events), *how, built_.emplace_back(WriteSet::without_undo()));
  // Once what is in front is in the engine, most need not be alone.
  for (bool again = false; outcome.ok() && outcome->exclusive && !how->alone; again = true) {
    built_.pop_back();
    COMMITD_RETURN_IF_ERROR(flush_and_wait());
    how->alone = again || !outcome->too_early;
    outcome = applier_.build(unwrap_local(*events), *how, built_.emplace_back(WriteSet::without_undo()));
    if (outcome.ok() && how->alone && !outcome->publish) outcome->publish = [] {};  // ends the batch
  }
  if (!outcome) {
    built_.pop_back();
    return cannot_apply(transaction, outcome.error());
  }
  take_built(std::move(*outcome));
  return {};
}

// One's own transactions are as they were executed here, and replay may meet a part of a large one in the
// engine already: of a received one, too, which was compared before.
Result<EventApplier::How> EngineStage::how_to_build(const PendingTransaction& transaction) {
  EventApplier::How how;
  how.compare = transaction.received && transaction.end > place_.incomplete_up_to;
  if (!how.compare) {
    uncompared_ = true;
  } else if (uncompared_) {
    COMMITD_RETURN_IF_ERROR(flush_and_wait());
    applier_.all_is_stored();
    uncompared_ = false;
  }
  return how;
}

void EngineStage::take_built(EventApplier::Outcome outcome) {
  keys_written_ += built_.back().entries().size();
  batch_.push_back(&built_.back());
  if (outcome.publish) publish_.push_back(std::move(outcome.publish));
}

// What is one event must be whole in memory anyway.
bool EngineStage::is_large(const PendingTransaction& transaction) const {
  return !transaction.gtid.empty() && large_.temporary.fs != nullptr &&
         transaction.end.offset - transaction.start.offset > large_.settings->transaction_cache_bytes;
}

// It is alone in its batch, which the engine takes in parts. Not when the rest of its rows is read from the
// engine: then it could not be taken a second time, after a crash.
Status EngineStage::add_large_by_events(const PendingTransaction& transaction, EventApplier::How how) {
  // Compared while everything in front is stored, it need not be built again, alone.
  COMMITD_RETURN_IF_ERROR(how.compare ? flush_and_wait() : flush());
  built_.emplace_back(WriteSet::without_undo())
      .spill_beyond(large_.settings->transaction_cache_bytes, large_.temporary);
  auto outcome = build_large(transaction, how);
  if (outcome.ok() && outcome->exclusive) {
    built_.back() = WriteSet::without_undo();
    COMMITD_RETURN_IF_ERROR(flush_and_wait());
    how.alone = true;
    outcome = build_large(transaction, how);
    if (outcome.ok() && !outcome->publish) outcome->publish = [] {};  // ends the batch
  }
  if (!outcome) {
    built_.pop_back();
    return cannot_apply(transaction, outcome.error());
  }
  take_built(std::move(*outcome));
  return {};
}

Result<EventApplier::Outcome> EngineStage::build_large(const PendingTransaction& transaction,
                                                       EventApplier::How how) {
  LogPosition at = transaction.start;
  LogChunk chunk;
  const auto next = [&]() -> Result<std::string_view> {
    if (at == transaction.end) return std::string_view();
    auto read = read_next(at, transaction.end);
    if (!read) return std::move(read).error();
    if (read->bytes.empty() || read->start != at) return cut_off(transaction);
    chunk = std::move(*read);
    at.offset += chunk.bytes.size();
    return chunk.bytes;
  };
  return applier_.build_from(next, how, built_.back());
}

// Holds what it needs itself: it may be committed behind the caller's back.
struct EngineStage::Batch {
  std::vector<PendingTransaction> transactions;
  std::vector<WriteSet*> writes;
  std::list<WriteSet> built;
  storage::CommitStep step;
  GtidSet changing;  // of step.added: those of transactions that changed something
  uint64_t turn = 0;
  bool changes_definitions = false;  // they are shown behind it
  bool is_taken = false;
};

Status EngineStage::commit(Batch& batch) {
  COMMITD_RETURN_IF_ERROR(engine_.commit_ordered(batch.writes, batch.step));
  batch.is_taken = true;
  if (!batch.changes_definitions) applier_.stored_up_to(batch.turn);
  gtid_persister_.taken(batch.changing);
  return engine_.commit();
}

void EngineStage::persist(const Gtid& gtid) {
  GtidSet gtids;
  if (!gtid.empty()) gtids.add(gtid);
  gtid_persister_.taken(gtids);
}

Status EngineStage::flush() {
  if (batch_.empty()) return {};
  const auto committed = rest_.first(batch_.size());
  GtidSet added, changing;
  for (size_t i = 0; i < committed.size(); ++i) {
    const PendingTransaction& transaction = committed[i];
    if (!transaction.gtid.empty()) {
      added.add(transaction.gtid);
      if (changes_something(*batch_[i])) changing.add(transaction.gtid);
    }
    if (transaction.epoch != 0) place_.epoch = transaction.epoch;
  }
  place_.position = committed.back().end;
  rest_ = rest_.subspan(committed.size());
  auto batch = std::make_shared<Batch>();
  batch->transactions.assign(committed.begin(), committed.end());
  batch->writes = std::exchange(batch_, {});
  batch->built = std::exchange(built_, {});
  batch->step = {place_, std::move(added)};
  batch->changing = std::move(changing);
  batch->turn = applier_.turn();
  batch->changes_definitions = !publish_.empty();
  if (committer_ == nullptr) {
    auto done = commit(*batch);
    if (!batch->is_taken) return not_taken(std::move(done).error());
    publish_all();
    if (!ahead_.is_active() || batch->changes_definitions) applier_.all_is_stored();
    if (!done.ok()) return not_made_durable(*batch, std::move(done).error());
    taken_(batch->transactions, batch->step);
    return {};
  }
  auto handed_over = committer_->hand_over([this, batch = std::move(batch)] {
    auto done = commit(*batch);
    if (done.ok()) taken_(batch->transactions, batch->step);
    return done;
  });
  if (!handed_over.ok() || publish_.empty()) return handed_over;
  auto drained = committer_->drain();
  if (drained.ok()) publish_all();
  applier_.all_is_stored();
  return drained;
}

// They are put together again once there is room.
Status EngineStage::not_taken(Error why) {
  lacked_room_ = why.code == er::kDiskFull;
  publish_.clear();
  applier_.all_is_stored();
  place_ = engine_.commit_point();
  return why;
}

// They are there for everybody, and count as applied once the engine's own log has them, or its files.
Status EngineStage::not_made_durable(const Batch& batch, Error why) {
  lacked_room_ = why.code == er::kDiskFull;
  not_durable_ = batch.transactions.size();
  return why;
}

Status EngineStage::make_durable() {
  COMMITD_CHECK(rest_.size() >= not_durable_ && rest_[not_durable_ - 1].end == place_.position,
                "{} transactions wait to be durable in the engine, and others come", not_durable_);
  if (auto done = engine_.commit(); !done.ok()) {
    lacked_room_ = done.error().code == er::kDiskFull;
    return done;
  }
  const auto durable = rest_.first(std::exchange(not_durable_, 0));
  rest_ = rest_.subspan(durable.size());
  taken_(durable, place_);
  return {};
}

void EngineStage::publish_all() {
  for (auto& publish : publish_) publish();
  publish_.clear();
}

Status EngineStage::flush_and_wait() {
  COMMITD_RETURN_IF_ERROR(flush());
  if (committer_ == nullptr) return {};
  auto drained = committer_->drain();
  if (drained.ok()) applier_.stored_up_to(applier_.turn());
  return drained;
}

Status EngineStage::finish_overlapping() {
  auto drained = committer_->drain();
  applier_.all_is_stored();
  committer_.reset();
  return drained;
}

// With commitd_relay_lock=log_lock as MySQL once did: one event at a time, while nothing received is written.
Result<LogChunk> EngineStage::read_next(LogPosition from, LogPosition readable_to) {
  if (!large_.settings->applier_takes_log_lock) return log_.read(from, readable_to, kReadSize);
  MutexLock lock(log_lock_);
  return log_.read(from, readable_to, 1);
}

Result<std::string_view> EngineStage::events_of(const PendingTransaction& transaction,
                                                LogPosition readable_to) {
  const size_t length = transaction.end.offset - transaction.start.offset;
  const auto inside = [&]() -> std::optional<std::string_view> {
    if (chunk_.start.file != transaction.start.file || chunk_.start.offset > transaction.start.offset)
      return std::nullopt;
    const size_t skip = transaction.start.offset - chunk_.start.offset;
    if (skip + length > chunk_.bytes.size()) return std::nullopt;
    return chunk_.bytes.substr(skip, length);
  };
  if (auto found = inside()) return *found;

  joined_.clear();
  LogPosition next = transaction.start;
  do {
    auto chunk = read_next(next, readable_to);
    if (!chunk) return std::move(chunk).error();
    chunk_ = std::move(*chunk);
    if (auto found = inside()) return *found;
    if (chunk_.bytes.empty() || chunk_.start != next) {
      return cut_off(transaction);
    }
    joined_ += chunk_.bytes;
    next.offset += chunk_.bytes.size();
  } while (joined_.size() < length);
  return std::string_view(joined_).substr(0, length);
}

}  // namespace commitd::binlog
