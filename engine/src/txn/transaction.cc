#include "txn/transaction.h"
#include "txn/definition_gate.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/error_codes.h"
#include "commit/commit_throttle.h"
#include "observe/metrics.h"
#include "plugins/observers.h"
#include "txn/range_locks.h"
#include "txn/transaction_impl.h"

namespace commitd::txn {

namespace {

constexpr size_t kGtidEvent = 80;  // bytes, about: what the log has in front of a transaction's own events

uint64_t next_xid() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

bool same_name(std::string_view left, std::string_view right) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [&](char l, char r) { return lower(l) == lower(r); });
}

Error no_savepoint(std::string_view name) {
  return make_error(er::kSpDoesNotExist, "SAVEPOINT {} does not exist", name);
}

observe::Counter& committed_counter() {
  static auto& counter =
      observe::counter("commitd_transactions_committed_total", "Transactions committed with changes.");
  return counter;
}

observe::Counter& rolled_back_counter() {
  static auto& counter = observe::counter("commitd_transactions_rolled_back_total",
                                          "Transactions with changes that were rolled back.");
  return counter;
}

}  // namespace

Transaction::Transaction(Services& services, LockOwner& owner)
    : impl_(std::make_unique<Impl>(services, owner)) {}

Transaction::~Transaction() {
  rollback();
}

void Transaction::begin(const Options& options, const binlog::TransactionBuffer::Context& context) {
  const Gtid next_gtid = impl_->next_gtid;  // it is meant for this one
  rollback();
  impl_->next_gtid = next_gtid;
  impl_->options = options;
  impl_->session = context.thread_id;
  impl_->events.set_context(context);
  impl_->arrange_spilling(options.ship, context.minimal_images);
  impl_->owner.begin_transaction();
  impl_->ground = impl_->services.pipeline.ordered().ground();
  impl_->locked_rows = LockedRows::Wait;
  impl_->active = true;
}

bool Transaction::active() const {
  return impl_->active;
}
Isolation Transaction::isolation() const {
  return impl_->options.isolation;
}
bool Transaction::has_writes() const {
  return !impl_->events.empty();
}
void Transaction::set_locked_rows(LockedRows what) {
  impl_->locked_rows = what;
}
void Transaction::set_unacknowledged(Unacknowledged what) {
  impl_->unacknowledged = what;
}

bool Transaction::depends_on_unacknowledged() {
  if (impl_->seen.order != 0 && impl_->services.pipeline.ordered().is_applied(impl_->seen)) impl_->seen = {};
  return impl_->seen.order != 0;
}

Task<Status> Transaction::settle() {
  using Outcome = binlog::OrderedWrites::Outcome;
  const binlog::SeenOrder seen = std::exchange(impl_->seen, {});
  impl_->owner.set_wait(LockOwner::Wait::Commit);
  const Outcome outcome = co_await impl_->services.pipeline.ordered().wait(seen, kNoDeadline);
  impl_->owner.set_wait(LockOwner::Wait::None);
  if (outcome == Outcome::Applied) co_return Status{};
  co_return binlog::seen_was_lost();
}

void Transaction::take_snapshot() {
  impl_->read_view();
}

// READ UNCOMMITTED reads like READ COMMITTED: nothing uncommitted is ever visible outside its transaction.
void Transaction::begin_statement() {
  impl_->owner.clear_kill();
  impl_->end_own_view();
  if (impl_->options.isolation <= Isolation::ReadCommitted) impl_->view.snapshot.reset();
  impl_->definitions_at_statement = definition_gate().pass();
  impl_->statement = {{}, impl_->writes.mark(), impl_->events.mark()};
}

void Transaction::see_newest() {
  if (impl_->options.isolation > Isolation::ReadCommitted && !impl_->view_between_statements)
    impl_->view_between_statements = std::exchange(impl_->view, {});
}

void Transaction::end_statement() {
  impl_->end_own_view();
  impl_->events.end_statement();
}

void Transaction::rollback_statement() {
  impl_->end_own_view();
  impl_->writes.rollback_to(impl_->statement.writes);
  impl_->events.rollback_to(impl_->statement.events);
}

Task<Status> Transaction::lock_table(std::string_view db, std::string_view table, LockMode mode) {
  const std::string key = table_lock_key(db, table);
  if (impl_->services.locks.try_lock(impl_->owner, key, mode)) co_return Status{};
  co_return co_await impl_->lock_name(key, mode);
}

void Transaction::savepoint(std::string_view name) {
  std::erase_if(impl_->savepoints, [&](const Impl::Savepoint& known) { return same_name(known.name, name); });
  impl_->savepoints.push_back({std::string(name), impl_->writes.mark(), impl_->events.mark()});
}

Status Transaction::rollback_to_savepoint(std::string_view name) {
  auto& savepoints = impl_->savepoints;
  const auto at = std::find_if(savepoints.begin(), savepoints.end(),
                               [&](const auto& known) { return same_name(known.name, name); });
  if (at == savepoints.end()) return no_savepoint(name);
  impl_->writes.rollback_to(at->writes);
  impl_->events.rollback_to(at->events);
  savepoints.erase(at + 1, savepoints.end());
  return {};
}

Status Transaction::release_savepoint(std::string_view name) {
  auto& savepoints = impl_->savepoints;
  const auto at = std::find_if(savepoints.begin(), savepoints.end(),
                               [&](const auto& known) { return same_name(known.name, name); });
  if (at == savepoints.end()) return no_savepoint(name);
  savepoints.erase(at, savepoints.end());
  return {};
}

void Transaction::commit_under(const Gtid& gtid) {
  impl_->next_gtid = gtid;
}

Task<Status> Transaction::commit() {
  if (!has_writes() && !impl_->next_gtid.empty()) impl_->events.set_empty();
  if (!has_writes()) {
    impl_->forget();
    if (!depends_on_unacknowledged()) co_return Status{};
    co_return co_await settle();
  }
  Status status = co_await impl_->log_and_apply({});
  impl_->forget();
  co_return status;
}

void Transaction::rollback() {
  if (has_writes()) {
    rolled_back_counter().add();
    impl_->tell_rolled_back();
  }
  impl_->forget();
}

// Locks taken for the statement (its table, exclusively) must outlive the implicit commit of what was open
// before.
Task<Status> Transaction::commit_statement(std::string_view db, std::string_view sql, WriteSet writes,
                                           std::function<void()> publish) {
  Status status;
  if (has_writes()) status = co_await impl_->log_and_apply({});
  if (status.ok()) {
    impl_->writes = std::move(writes);
    impl_->spilling.reset();
    impl_->events.clear();
    impl_->events.set_statement(db, sql);
    status = co_await impl_->log_and_apply(std::move(publish));
  }
  impl_->forget();
  co_return status;
}

const Gtid& Transaction::last_gtid() const {
  return impl_->last_gtid;
}

const storage::SnapshotPtr& Transaction::Impl::read_view() {
  if (view.snapshot != nullptr) return view.snapshot;
  view.definitions = definition_gate().pass();
  view.checked_definitions.clear();
  view.snapshot = services.engine.snapshot();
  return view.snapshot;
}

void Transaction::Impl::end_own_view() {
  if (!view_between_statements) return;
  view = *std::move(view_between_statements);
  view_between_statements.reset();
}

// Not those that come with a GTID, which the log may refuse, whose keys are final only at commit, whose
// ranges nobody may write into before they have ended, or which would take longer to list than others wait.
bool Transaction::Impl::may_let_go_early() const {
  constexpr size_t kMostKeys = 1000;
  return next_gtid.empty() && options.isolation != Isolation::Serializable &&
         writes.provisional_counts().empty() && writes.erased_ranges().empty() &&
         writes.entries().size() <= kMostKeys && !writes.spilled();
}

// When the outcome is not known (error 1053) the transaction lives on in the log only, so this side of it
// ends like any other.
Task<Status> Transaction::Impl::log_and_apply(std::function<void()> publish) {
  if (options.ship && services.pipeline.throttle().is_on())
    COMMITD_CO_RETURN_IF_ERROR(co_await wait_for_replicas());
  RangeLocks::InFlight in_flight(services.locks.ranges());
  while (range_in_the_way(writes)) {
    in_flight.leave();
    const Status waited = co_await wait_for_ranges(writes);
    if (!waited.ok()) co_return waited;
    in_flight.enter_again();
  }
  if (services.observers != nullptr) COMMITD_CO_RETURN_IF_ERROR(services.observers->before_commit(session));
  events.finish(next_xid());
  binlog::CommitRequest request;
  request.events = &events;
  request.writes = &writes;
  request.ship = options.ship;
  request.seen = seen;
  request.ground = ground;
  if (!publish && may_let_go_early()) request.release_locks = [this] { services.locks.release_rows(owner); };
  if (request.ship) request.gtid = next_gtid;
  request.publish = std::move(publish);
  owner.set_wait(LockOwner::Wait::Commit);
  Status status = co_await services.pipeline.commit(request);
  owner.set_wait(LockOwner::Wait::None);
  seen = {};  // it stood behind all of that in the log
  if (status.ok()) {
    last_gtid = request.gtid;
    committed_counter().add();
    tell_committed(request);
  } else if (status.error().code != er::kServerShutdown) {
    tell_rolled_back();
  }
  events.clear();
  writes.clear();
  co_return status;
}

// Here, where its locks keep nobody waiting but those of its rows: who drops or empties a table waits for
// whom is in flight.
Task<Status> Transaction::Impl::wait_for_replicas() {
  owner.set_wait(LockOwner::Wait::Replicas);
  const size_t bytes = kGtidEvent + events.size();
  Status passed = co_await services.pipeline.throttle().pass(bytes, owner.kill_flag());
  owner.set_wait(LockOwner::Wait::None);
  if (!passed.ok()) tell_rolled_back();
  co_return passed;
}

void Transaction::Impl::tell_committed(const binlog::CommitRequest& request) {
  plugins::Observers* observers = services.observers;
  if (observers == nullptr || !observers->transactions.any()) return;
  observers->after_commit(session, services.pipeline.log().file_name(request.end.file), request.end.offset,
                          request.gtid.empty() ? std::string() : request.gtid.to_string());
}

void Transaction::Impl::tell_rolled_back() {
  if (services.observers != nullptr) services.observers->after_rollback(session);
}

// What is not shipped becomes one event, which must be whole in memory. And what is taken into the engine in
// parts must mean the same when a start does it again, from the log: rows with minimal images are completed
// from the engine.
void Transaction::Impl::arrange_spilling(bool ship, bool minimal_images) {
  const binlog::PipelineOptions& pipeline = services.pipeline.options();
  const bool values = ship && !minimal_images && services.pipeline.logging();
  const Spilling wanted{ship, values, pipeline.settings->transaction_cache_bytes};
  if (spilling == wanted) return;
  spilling = wanted;
  events.may_spill_to(wanted.events ? pipeline.temporary : TemporaryPlace{});
  writes.spill_beyond(wanted.beyond, wanted.values ? pipeline.temporary : TemporaryPlace{});
}

void Transaction::Impl::forget() {
  services.locks.release_all(owner);
  view = {};
  view_between_statements.reset();
  savepoints.clear();
  writes.clear();
  events.clear();
  memory.clear();
  next_gtid = {};
  active = false;
}

Status Transaction::Impl::check_size() {
  if (events.size() > options.max_bytes) {
    return make_error(er::kTransCacheFull,
                      "Multi-statement transaction required more than 'max_binlog_cache_size' bytes of "
                      "storage; increase this mysqld "
                      "variable and try again");
  }
  // A change is kept with what undoes it; both are nodes of trees and lists.
  constexpr size_t kOverheadOfChange = 192;
  COMMITD_RETURN_IF_ERROR(writes.write_spilled());
  const size_t changes = 2 * writes.byte_size() + writes.mark() * kOverheadOfChange;
  const bool large = events.in_memory() > services.pipeline.options().settings->transaction_cache_bytes;
  if (!large && memory.cover(changes + events.in_memory())) return {};
  COMMITD_RETURN_IF_ERROR(events.spill());
  if (memory.cover(changes + events.in_memory())) return {};
  return make_error(er::kTransCacheFull,
                    "Multi-statement transaction required more memory than the server has left of its "
                    "'commitd_memory_budget'; split it and try again");
}

}  // namespace commitd::txn
