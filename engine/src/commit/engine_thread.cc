// The engine thread: what is acknowledged goes into the engine, and its sessions are woken. The log thread
// does the same where it is alone with a few local commits.
#include <algorithm>

#include "base/error_codes.h"
#include "commit/pipeline_impl.h"

namespace commitd::binlog {
namespace {

// One engine batch takes at most so many transactions.
constexpr size_t kLargestEngineBatch = 1024;
// So many the log thread takes into the engine itself when nobody waits for it.
constexpr size_t kFewTransactions = 4;
constexpr std::chrono::seconds kBetweenLooksForRoom{1};

void observe_since(observe::Histogram& histogram, Clock::time_point start, Clock::time_point end) {
  histogram.observe_ns(std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count());
}

void count_turn() {
  static auto& turns = observe::counter(
      "commitd_ack_wait_turns_total",
      "Commit groups whose acknowledgement the next group waited for before it was written.");
  turns.add();
}

// Final row ids are given in the log's order, and so are epochs; what is not prepared is known to recovery by
// its place in the log alone.
bool may_come_in_any_order(const PendingTransaction& transaction) {
  return transaction.local != nullptr && transaction.local->is_prepared && transaction.epoch == 0 &&
         !transaction.shown_early && transaction.local->request->writes->provisional_counts().empty();
}

// Those in front that go into the engine in the same way.
std::span<const PendingTransaction> first_alike(std::span<const PendingTransaction> transactions) {
  const bool any_order = may_come_in_any_order(transactions.front());
  const auto other = std::find_if(transactions.begin(), transactions.end(), [any_order](const auto& one) {
    return may_come_in_any_order(one) != any_order;
  });
  return transactions.first(other - transactions.begin());
}

}  // namespace

observe::Histogram& stage_seconds(const char* stage) {
  const auto make = [](const char* name) -> observe::Histogram& {
    return observe::histogram("commitd_commit_stage_seconds",
                              "Time transactions spend in the stages of the commit.", {{"stage", name}});
  };
  static auto& queue = make("queue");
  static auto& flush = make("flush");
  static auto& sync = make("sync");
  static auto& ack = make("ack");
  static auto& engine = make("engine");
  static auto& total = make("total");
  const std::string_view name = stage;
  return name == "queue"    ? queue
         : name == "flush"  ? flush
         : name == "sync"   ? sync
         : name == "ack"    ? ack
         : name == "engine" ? engine
                            : total;
}

// What has waited for the group in front goes together.
bool CommitPipeline::Impl::next_group_waits_its_turn() {
  const bool waits_now = options.settings->acknowledged_in_turn && order.oldest_unacknowledged() != nullptr;
  if (waits_now && !waits_its_turn) count_turn();
  return waits_its_turn = waits_now;
}

void CommitPipeline::Impl::adjust_hold() {
  const bool another_is_under_way = options.settings->one_at_a_time && !order.is_idle();
  queue.hold_local(next_group_waits_its_turn() || another_is_under_way ||
                   order.pending_bytes() > options.max_unacknowledged_bytes);
}

void CommitPipeline::Impl::tell_progress() {
  if (const LogPosition to = order.durable_end(); to != told_durable_) {
    told_durable_ = to;
    waits.moved(Bound::Durable, to);
  }
  if (const LogPosition to = order.acknowledged_end(); to != told_acknowledged_) {
    told_acknowledged_ = to;
    waits.moved(Bound::Acknowledged, to);
  }
}

void CommitPipeline::Impl::settle_ground() {
  if (!order.has_detached()) ordered.outcomes_are_known();
}

void CommitPipeline::Impl::wake_engine_thread() {
  if (order.can_take()) engine_work.notify_one();
}

void CommitPipeline::Impl::wait_for_engine(MutexLock<observe::Mutex>& lock) {
  while ((order.in_engine() != 0 || order.front_may_be_taken()) && !order.failure() && !stopping)
    engine_idle.wait(lock);
}

void CommitPipeline::Impl::run_engine_thread() {
  for (;;) {
    const std::vector<PendingTransaction> batch = wait_for_acknowledged();
    if (batch.empty()) return;
    take_into_engine(batch);
  }
}

// One commit alone is answered sooner without a second thread being woken for it. Not so when others wait for
// the log, when the engine syncs a log of its own, when a DDL would publish what it changed, or when there is
// anything but local commits.
bool CommitPipeline::Impl::log_thread_may_apply() const {
  const auto& pending = order.pending();
  if (engine.has_own_log() || pending.size() > kFewTransactions || !order.can_take()) return false;
  const bool plain = std::all_of(pending.begin(), pending.end(), [](const PendingTransaction& transaction) {
    return transaction.local != nullptr && !transaction.local->request->publish;
  });
  return plain && queue.is_empty();
}

void CommitPipeline::Impl::take_into_engine(const std::vector<PendingTransaction>& batch) {
  const bool in_order = options.settings->order_commits;
  Status applied;
  for (std::span<const PendingTransaction> rest = batch; applied.ok() && !rest.empty();) {
    const auto next = in_order ? rest : first_alike(rest);
    const bool any_order = !in_order && may_come_in_any_order(next.front());
    rest = rest.subspan(next.size());
    applied = any_order ? let_sessions_take(next) : engine_stage.apply(next);
  }
  if (!applied.ok()) engine_failed(batch, applied.error());
}

// Those in front are applied already, and counted.
void CommitPipeline::Impl::engine_failed(std::span<const PendingTransaction> batch, const Error& why) {
  {
    MutexLock lock(mutex);
    batch = batch.last(order.in_engine());
    if (!batch.empty() && engine_stage.unappliable() && batch.front().received) {
      order.stop_applying(batch, why);
      return engine_idle.notify_all();
    }
    if (!batch.empty() && engine_stage.lacked_room()) {
      order.stop_applying(batch, why, Order::Stop::NoRoom);
      engine_work.notify_one();  // to look for room
      return engine_idle.notify_all();
    }
  }
  fail(why);
  std::vector<LocalCommit*> unanswered;
  for (const PendingTransaction& transaction : batch) {
    if (transaction.local != nullptr) unanswered.push_back(transaction.local);
  }
  {
    MutexLock lock(mutex);
    order.abandon_taken();
    const auto shown_ones = order.detach_shown();
    unanswered.insert(unanswered.end(), shown_ones.begin(), shown_ones.end());
    engine_idle.notify_all();
  }
  refuse(unanswered, why);
}

void CommitPipeline::Impl::go_on_with_room() {
  take_step([](Order& now) {
    if (now.waits_for_room()) now.retry_apply();
  });
}

// Whoever comes behind them, in the engine or with a question about it, finds them all there.
Status CommitPipeline::Impl::let_sessions_take(std::span<const PendingTransaction> transactions) {
  unordered.expect(transactions, engine_stage.place());
  WaitingRoom* room = nullptr;
  for (const PendingTransaction& transaction : transactions) {
    transaction.local->goes_itself = true;
    if (WaitingRoom* shared = transaction.local->answer_quietly({})) room = shared;
  }
  if (room != nullptr) room->wake_everybody();
  auto place = unordered.wait_for_all();
  if (place.ok()) engine_stage.continue_at(*place);
  MutexLock lock(mutex);
  order.all_applied(transactions);
  adjust_hold();
  engine_idle.notify_all();
  return place.ok() ? Status{} : Status{std::move(place).error()};
}

Status CommitPipeline::Impl::take_into_engine(const LocalCommit& commit) {
  COMMITD_RETURN_IF_ERROR(unordered.take(*commit.request));
  engine_stage.persist(commit.request->gtid);
  const auto now = Clock::now();
  observe_since(stage_seconds("ack"), commit.durable, commit.acknowledged);
  observe_since(stage_seconds("engine"), commit.acknowledged, now);
  observe_since(stage_seconds("total"), commit.queued, now);
  return {};
}

void CommitPipeline::Impl::taken_by_session(const CommitRequest& request, const storage::EnginePlace& place) {
  MutexLock lock(mutex);
  order.applied_alone(request.gtid, request.end, place.position);
  settle_ground();
  waits.executed(order.executed());
}

std::vector<PendingTransaction> CommitPipeline::Impl::wait_for_acknowledged() {
  MutexLock lock(mutex);
  while (!order.can_take() && !(stopping && order.in_engine() == 0)) wait_for_work(lock);
  return take_acknowledged();
}

// The engine says when its volume has room again; that may have been before anybody waited, and a temporary
// file's volume says nothing.
void CommitPipeline::Impl::wait_for_work(MutexLock<observe::Mutex>& lock) {
  if (!order.waits_for_room()) return engine_work.wait(lock);
  const auto ended = engine_work.wait_for(lock, kBetweenLooksForRoom);
  if (ended != std::cv_status::timeout || !order.waits_for_room()) return;
  const Status room = engine.room();
  if (room.ok() || room.error().code != er::kDiskFull) order.retry_apply();
}

std::vector<PendingTransaction> CommitPipeline::Impl::take_acknowledged() {
  std::vector<PendingTransaction> batch = order.take(kLargestEngineBatch);
  tell_progress();
  const auto now = Clock::now();
  for (const PendingTransaction& transaction : batch) {
    if (transaction.local != nullptr) transaction.local->acknowledged = now;
  }
  return batch;
}

// While nobody else takes anything into the engine: once a later version of a row is in there, an earlier one
// that still stood among the ordered writes would hide it.
void CommitPipeline::Impl::forget_ordered(std::span<const PendingTransaction> transactions) {
  std::vector<OrderedTransaction*> applied;
  for (const PendingTransaction& transaction : transactions) {
    if (transaction.local != nullptr) applied.push_back(&transaction.local->ordered);
  }
  ordered.applied(applied);
}

void CommitPipeline::Impl::taken_into_engine(std::span<const PendingTransaction> transactions,
                                             const storage::EnginePlace& place) {
  forget_ordered(transactions);
  bool more = false;
  LogPosition acknowledged;
  std::optional<Error> failed;
  std::vector<LocalCommit*> unanswered;
  const auto now = Clock::now();
  {
    MutexLock lock(mutex);
    // Who is answered later may be answered by another thread as soon as this one unlocks.
    for (const PendingTransaction& transaction : transactions) {
      if (transaction.shown_early && transaction.local != nullptr) transaction.local->shown = now;
    }
    order.applied(transactions, place);
    acknowledged = order.acknowledged_end();
    if (order.failure() && !order.takes_early()) {
      failed = order.failure();
      unanswered = order.detach_shown();
    }
    settle_ground();
    waits.executed(order.executed());
    adjust_hold();
    engine_idle.notify_all();
    more = order.can_take();
  }
  if (more) engine_work.notify_one();
  if (failed) refuse(unanswered, *failed);
  WaitingRoom* room = nullptr;
  for (const PendingTransaction& transaction : transactions) {
    LocalCommit* commit = transaction.local;
    if (commit == nullptr || transaction.end > acknowledged) continue;
    observe_since(stage_seconds("ack"), commit->durable, commit->acknowledged);
    observe_since(stage_seconds("engine"), commit->acknowledged, now);
    observe_since(stage_seconds("total"), commit->queued, now);
    if (WaitingRoom* shared = commit->answer_quietly({})) room = shared;
  }
  if (room != nullptr) room->wake_everybody();
}

// Of them the engine came first, and then the acknowledgement.
void CommitPipeline::Impl::answer_shown(std::span<LocalCommit* const> commits) {
  const auto now = Clock::now();
  WaitingRoom* room = nullptr;
  for (LocalCommit* commit : commits) {
    observe_since(stage_seconds("engine"), commit->acknowledged, commit->shown);
    observe_since(stage_seconds("ack"), commit->shown, now);
    observe_since(stage_seconds("total"), commit->queued, now);
    if (WaitingRoom* shared = commit->answer_quietly({})) room = shared;
  }
  if (room != nullptr) room->wake_everybody();
}

}  // namespace commitd::binlog
