// Early lock release: what others may see of a transaction that is in the log's order and not acknowledged,
// and what becomes of them when it is lost. The acknowledgement comes when the test says so.
#include "base/error_codes.h"
#include "txn/testing/transaction_fixture.h"

namespace commitd::txn {
namespace {

using namespace std::chrono_literals;
using testing::begin;
using testing::Client;
using testing::found;
using testing::people_table;
using testing::person;
using testing::TransactionTest;
using testing::word;
using testing::words_table;

constexpr const char* kWaiting = "waiting";

std::string outcome(const Status& status) {
  return status.ok() ? "ok" : std::to_string(status.error().code);
}
std::string outcome(const Result<std::optional<Transaction::Duplicate>>& result) {
  if (!result) return std::to_string(result.error().code);
  return *result ? (*result)->index->name : "ok";
}

// Something of another client's that may wait.
struct Started {
  std::string outcome = kWaiting;
};
Task<void> run_commit(Client& client, Started& started) {
  const Status status = co_await client.transaction.commit();
  started.outcome = outcome(status);
}
Task<void> run_settle(Client& client, Started& started) {
  const Status status = co_await client.transaction.settle();
  started.outcome = outcome(status);
}

// Everything runs on one reactor: what was spawned has run until it waits.
Task<void> let_run() {
  co_await sleep_until(Clock::now() + 1ms);
}
template <class Condition>
Task<void> until(Condition condition) {
  while (!condition()) co_await sleep_until(Clock::now() + 1ms);
}

constexpr const char* kStandsOnOlderData = "3101";

class EarlyRelease : public TransactionTest {
 protected:
  void start_using(Client& client, Isolation isolation = Isolation::RepeatableRead) {
    begin(client, isolation);
    client.transaction.set_unacknowledged(Unacknowledged::Use);
  }

  // Every test begins with Ann, 30 years old; what it does itself waits for its acknowledgement.
  void SetUp() override { run_blocking(there_is_ann()); }
  Task<void> there_is_ann() { EXPECT_EQ(co_await there_is(person(1, "Ann", 30)), "ok"); }
  Task<std::string> there_is(Row row) {
    begin(a);
    const auto inserted = co_await a.transaction.insert(people, row);
    if (outcome(inserted) != "ok") co_return outcome(inserted);
    const Status status = co_await a.transaction.commit();
    co_return outcome(status);
  }
  // Ann is 31 in the log's order, and not acknowledged.
  Task<void> a_lets_ann_go() {
    start_using(a);
    EXPECT_EQ(co_await birthday(a, 1), "ok");
    co_await commit_unacknowledged(a, of_a);
  }

  // The row's text, "none", or the error's number.
  Task<std::string> read(Client& client, int id, ReadMode mode) {
    const std::vector<Value> key(1, Value::integer(id));
    FoundRow row;
    const auto got = co_await client.transaction.get(people, key, mode, row);
    if (!got) co_return std::to_string(got.error().code);
    if (!*got) co_return "none";
    co_return row.values[1].to_text() + ":" + row.values[2].to_text();
  }
  Task<void> run_read(Client& client, int id, Started& started) {
    started.outcome = co_await read(client, id, ReadMode::LockExclusive);
  }

  // age = age + 1
  Task<std::string> birthday(Client& client, int id) {
    const std::vector<Value> key(1, Value::integer(id));
    FoundRow row;
    const auto got = co_await client.transaction.get(people, key, ReadMode::LockExclusive, row);
    if (!got) co_return std::to_string(got.error().code);
    if (!*got) co_return "none";
    Row older = row.values;
    older[2] = Value::integer(row.values[2].as_int() + 1);
    const auto updated = co_await client.transaction.update(people, row, older);
    co_return outcome(updated);
  }
  Task<std::string> erase(Client& client, int id) {
    const std::vector<Value> key(1, Value::integer(id));
    FoundRow row;
    const auto got = co_await client.transaction.get(people, key, ReadMode::LockExclusive, row);
    if (!got || !*got) co_return "none";
    const Status erased = co_await client.transaction.erase(people, row);
    co_return outcome(erased);
  }
  Task<std::string> insert(Client& client, Row row) {
    const auto inserted = co_await client.transaction.insert(people, row);
    co_return outcome(inserted);
  }

  // Ages by index 2, as a statement that changes rows finds them.
  Task<std::string> scan_to_change(Client& client, bool backwards) {
    const auto cursor =
        client.transaction.scan(people, people->indexes[2], {}, ReadMode::LockExclusive, backwards);
    std::string ages;
    FoundRow row;
    while (true) {
      const auto more = co_await cursor->next_locked(row);
      if (!more) co_return std::to_string(more.error().code);
      if (!*more) co_return ages;
      ages += (ages.empty() ? "" : " ") + row.values[0].to_text() + ":" + row.values[2].to_text();
    }
  }

  Task<void> commit_unacknowledged(Client& client, Started& started) {
    services().pipeline.set_gate(binlog::CommitPipeline::Gate::Gated);
    const uint64_t before = services().pipeline.unapplied_transactions();
    Reactor::current()->spawn(run_commit(client, started));
    co_await until([this, before] { return services().pipeline.unapplied_transactions() > before; });
  }
  // The outcome of what may have had to wait.
  Task<std::string> end_of(Started& started) {
    co_await until([&started] { return started.outcome != kWaiting; });
    co_return started.outcome;
  }
  void acknowledge() { services().pipeline.acknowledge(services().pipeline.durable_end()); }
  void lose() { services().pipeline.fail_waiters(make_error(er::kServerShutdown, "demoted")); }

  TablePtr people = people_table();
  TablePtr words = words_table();
  Client a{services()}, b{services()}, c{services()};
  Started of_a, of_b, of_c;

  Task<void> hot_row();
  Task<void> rows_wait();
  Task<void> kills();
  Task<void> nowait_and_skip();
  Task<void> errors_and_ends_wait();
  Task<void> deletions_and_keys();
  Task<void> scans();
  Task<void> lost();
  Task<void> lost_while_waiting();
  Task<void> undecided();
  Task<void> older_version_stays();
  Task<void> not_released(bool switched_off);
  Task<void> large_not_released();
  Task<void> hidden_ids();
  Task<void> table_locks();
};

Task<void> EarlyRelease::hot_row() {
  co_await a_lets_ann_go();
  start_using(b);
  EXPECT_EQ(co_await birthday(b, 1), "ok") << "its lock is gone";
  EXPECT_TRUE(b.transaction.depends_on_unacknowledged());
  co_await commit_unacknowledged(b, of_b);
  begin(c);
  EXPECT_EQ(found(c, people), "1:Ann:30") << "a consistent read sees only what is acknowledged";
  EXPECT_EQ(of_a.outcome, kWaiting);
  EXPECT_EQ(of_b.outcome, kWaiting);
  acknowledge();
  EXPECT_EQ(co_await end_of(of_a), "ok");
  EXPECT_EQ(co_await end_of(of_b), "ok");
  begin(c);
  EXPECT_EQ(found(c, people), "1:Ann:32");
  EXPECT_TRUE(services().pipeline.ordered().empty());
}
TEST_F(EarlyRelease, TheNextWriterOfARowNeedsNoAcknowledgement) {
  run_blocking(hot_row());
}

Task<void> EarlyRelease::rows_wait() {
  co_await a_lets_ann_go();
  begin(b);
  b.transaction.set_unacknowledged(Unacknowledged::Wait);
  Reactor::current()->spawn(run_read(b, 1, of_b));
  co_await let_run();
  EXPECT_EQ(of_b.outcome, kWaiting) << "its client would see the row";
  EXPECT_FALSE(b.transaction.depends_on_unacknowledged());
  acknowledge();
  EXPECT_EQ(co_await end_of(of_b), "Ann:31");
}
TEST_F(EarlyRelease, ARowIsShownWhenItIsAcknowledged) {
  run_blocking(rows_wait());
}

Task<void> EarlyRelease::nowait_and_skip() {
  co_await a_lets_ann_go();
  begin(b);
  b.transaction.set_unacknowledged(Unacknowledged::Wait);
  b.transaction.set_locked_rows(LockedRows::NoWait);
  EXPECT_EQ(co_await read(b, 1, ReadMode::LockExclusive), std::to_string(er::kLockNowait));
  b.transaction.set_locked_rows(LockedRows::Skip);
  EXPECT_EQ(co_await read(b, 1, ReadMode::LockExclusive), "none");
  EXPECT_EQ(co_await scan_to_change(b, false), "");
  acknowledge();
  EXPECT_EQ(co_await end_of(of_a), "ok");
  EXPECT_EQ(co_await read(b, 1, ReadMode::LockExclusive), "Ann:31");
}
TEST_F(EarlyRelease, WhoDoesNotWaitForLocksDoesNotWaitForAcknowledgements) {
  run_blocking(nowait_and_skip());
}

Task<void> EarlyRelease::errors_and_ends_wait() {
  start_using(a);
  EXPECT_EQ(co_await insert(a, person(2, "Bob", 1)), "ok");
  co_await commit_unacknowledged(a, of_a);
  start_using(b);
  EXPECT_EQ(co_await insert(b, person(3, "Bob", 1)), "name");
  EXPECT_TRUE(b.transaction.depends_on_unacknowledged()) << "the duplicate must not be told yet";
  b.transaction.rollback();
  EXPECT_TRUE(b.transaction.depends_on_unacknowledged()) << "nor after a rollback";
  Reactor::current()->spawn(run_settle(b, of_b));
  start_using(c);
  EXPECT_EQ(co_await read(c, 2, ReadMode::LockExclusive), "Bob:1");
  Reactor::current()->spawn(run_commit(c, of_c));
  co_await let_run();
  EXPECT_EQ(of_b.outcome, kWaiting);
  EXPECT_EQ(of_c.outcome, kWaiting) << "a commit without changes tells that what it saw is so";
  acknowledge();
  EXPECT_EQ(co_await end_of(of_b), "ok");
  EXPECT_EQ(co_await end_of(of_c), "ok");
}
TEST_F(EarlyRelease, ErrorsRollbacksAndCommitsOfReadersWait) {
  run_blocking(errors_and_ends_wait());
}

Task<void> EarlyRelease::deletions_and_keys() {
  start_using(a);
  EXPECT_EQ(co_await erase(a, 1), "ok");
  co_await commit_unacknowledged(a, of_a);
  start_using(b);
  EXPECT_EQ(co_await birthday(b, 1), "none");
  EXPECT_EQ(co_await insert(b, person(2, "Ann", 1)), "ok") << "the name is free";
  co_await commit_unacknowledged(b, of_b);
  start_using(c);
  EXPECT_EQ(co_await insert(c, person(3, "Ann", 1)), "name") << "and taken again";
  EXPECT_EQ(co_await insert(c, person(1, "Eve", 1)), "ok");
  Reactor::current()->spawn(run_commit(c, of_c));
  co_await until([this] { return services().pipeline.unapplied_transactions() == 3; });
  acknowledge();
  EXPECT_EQ(co_await end_of(of_c), "ok");
  begin(a);
  EXPECT_EQ(found(a, people), "1:Eve:1 2:Ann:1");
  EXPECT_EQ(found(a, people, 1), "2:Ann:1 1:Eve:1");
}
TEST_F(EarlyRelease, KeysAreFreeAndTakenInTheLogsOrder) {
  run_blocking(deletions_and_keys());
}

Task<void> EarlyRelease::scans() {
  EXPECT_EQ(co_await there_is(person(2, "Bob", 20)), "ok");
  EXPECT_EQ(co_await there_is(person(3, "Eve", 10)), "ok");
  start_using(a);
  EXPECT_EQ(co_await birthday(a, 1), "ok");                   // 30 -> 31: its entry moves
  EXPECT_EQ(co_await erase(a, 2), "ok");                      // gone
  EXPECT_EQ(co_await insert(a, person(4, "Joe", 15)), "ok");  // new
  co_await commit_unacknowledged(a, of_a);
  start_using(b);
  EXPECT_EQ(co_await scan_to_change(b, false), "3:10 4:15 1:31");
  b.transaction.rollback();
  start_using(b);
  EXPECT_EQ(co_await scan_to_change(b, true), "1:31 4:15 3:10");
  b.transaction.rollback();
  begin(c);
  EXPECT_EQ(found(c, people, 2), "3:Eve:10 2:Bob:20 1:Ann:30");
  acknowledge();
  EXPECT_EQ(co_await end_of(of_a), "ok");
}
TEST_F(EarlyRelease, ScansThatLockFindAllOfIt) {
  run_blocking(scans());
}

// a is lost; b is on its way behind it, c still open: neither may succeed.
Task<void> EarlyRelease::lost() {
  EXPECT_EQ(co_await there_is(person(2, "Bob", 20)), "ok");
  co_await a_lets_ann_go();
  start_using(b);
  EXPECT_EQ(co_await birthday(b, 1), "ok");
  co_await commit_unacknowledged(b, of_b);
  start_using(c);
  EXPECT_EQ(co_await birthday(c, 1), "ok");
  lose();
  EXPECT_EQ(co_await end_of(of_a), std::to_string(er::kServerShutdown));
  EXPECT_EQ(co_await end_of(of_b), std::to_string(er::kServerShutdown));
  EXPECT_TRUE(services().pipeline.ordered().empty());
  Reactor::current()->spawn(run_commit(c, of_c));
  EXPECT_EQ(co_await end_of(of_c), std::to_string(er::kLockDeadlock));
  EXPECT_EQ(services().pipeline.unapplied_transactions(), 2u) << "nothing of c was logged";
}
TEST_F(EarlyRelease, WhoHasSeenWhatWasLostCannotCommit) {
  run_blocking(lost());
}

Task<void> EarlyRelease::undecided() {
  co_await a_lets_ann_go();
  begin(c);
  lose();
  EXPECT_EQ(co_await end_of(of_a), std::to_string(er::kServerShutdown));
  begin(b);
  EXPECT_EQ(co_await birthday(b, 1), "ok") << "nobody holds the row any more";
  Reactor::current()->spawn(run_commit(b, of_b));
  EXPECT_EQ(co_await end_of(of_b), kStandsOnOlderData) << "she may be older";
  b.transaction.rollback();
  EXPECT_TRUE(services().pipeline.cut_unacknowledged(services().pipeline.gtid_executed()).ok());
  EXPECT_EQ(co_await birthday(c, 1), "ok");
  Reactor::current()->spawn(run_commit(c, of_c));
  EXPECT_EQ(co_await end_of(of_c), kStandsOnOlderData) << "it began before all that";
  c.transaction.rollback();
  begin(a);
  EXPECT_EQ(co_await birthday(a, 1), "ok");
  of_a = {};
  co_await commit_unacknowledged(a, of_a);
  acknowledge();
  EXPECT_EQ(co_await end_of(of_a), "ok");
  begin(b);
  EXPECT_EQ(found(b, people), "1:Ann:31");
}
TEST_F(EarlyRelease, WhoBeganBesideAnUnknownOutcomeCannotCommit) {
  run_blocking(undecided());
}

Task<void> EarlyRelease::kills() {
  co_await a_lets_ann_go();
  begin(b);
  Reactor::current()->spawn(run_read(b, 1, of_b));
  co_await let_run();
  services().pipeline.ordered().wake_killed();
  co_await let_run();
  EXPECT_EQ(of_b.outcome, kWaiting) << "another was killed";
  services().locks.kill_wait(b.owner);
  services().pipeline.ordered().wake_killed();
  co_await until([this] { return of_b.outcome != kWaiting; });
  EXPECT_EQ(of_b.outcome, std::to_string(er::kQueryInterrupted));
  b.transaction.rollback();
  begin(c);
  services().locks.kill_wait(c.owner);
  EXPECT_EQ(co_await read(c, 1, ReadMode::LockShared), std::to_string(er::kQueryInterrupted))
      << "killed before it waits";
  EXPECT_EQ(of_a.outcome, kWaiting);
  acknowledge();
  co_await until([this] { return of_a.outcome != kWaiting; });
}
TEST_F(EarlyRelease, AKillEndsTheWaitForARow) {
  run_blocking(kills());
}

Task<void> EarlyRelease::lost_while_waiting() {
  co_await a_lets_ann_go();
  start_using(b);
  EXPECT_EQ(co_await insert(b, person(2, "ann", 1)), "name");
  Reactor::current()->spawn(run_settle(b, of_b));
  begin(c);
  Reactor::current()->spawn(run_settle(c, of_c));
  co_await let_run();
  EXPECT_EQ(of_c.outcome, "ok") << "it has seen nothing";
  EXPECT_EQ(of_b.outcome, kWaiting);
  lose();
  EXPECT_EQ(co_await end_of(of_b), std::to_string(er::kLockDeadlock));
}
TEST_F(EarlyRelease, WhoWaitsForWhatIsLostFails) {
  run_blocking(lost_while_waiting());
}

// Both a and b have a version of the row. b is lost while it is queued: then a's is the newest, not the
// engine's.
Task<void> EarlyRelease::older_version_stays() {
  co_await a_lets_ann_go();
  services().pipeline.freeze();
  start_using(b);
  EXPECT_EQ(co_await birthday(b, 1), "ok");
  Reactor::current()->spawn(run_commit(b, of_b));
  co_await let_run();
  services().pipeline.close_to_local_commits(make_error(er::kOptionPreventsStatement, "read only"));
  EXPECT_EQ(co_await end_of(of_b), std::to_string(er::kOptionPreventsStatement));
  services().pipeline.open_to_local_commits();
  services().pipeline.thaw();
  start_using(c);
  EXPECT_EQ(co_await birthday(c, 1), "ok");
  co_await commit_unacknowledged(c, of_c);
  acknowledge();
  EXPECT_EQ(co_await end_of(of_a), "ok");
  EXPECT_EQ(co_await end_of(of_c), "ok");
  begin(b);
  EXPECT_EQ(found(b, people), "1:Ann:32");
}
TEST_F(EarlyRelease, ALostVersionUncoversTheOneBeforeIt) {
  run_blocking(older_version_stays());
}

Task<void> EarlyRelease::not_released(bool switched_off) {
  settings().early_lock_release = !switched_off;
  start_using(a, switched_off ? Isolation::RepeatableRead : Isolation::Serializable);
  EXPECT_EQ(co_await birthday(a, 1), "ok");
  co_await commit_unacknowledged(a, of_a);
  start_using(b);
  b.transaction.set_locked_rows(LockedRows::NoWait);
  EXPECT_EQ(co_await birthday(b, 1), std::to_string(er::kLockNowait));
  EXPECT_TRUE(services().pipeline.ordered().empty());
  acknowledge();
  EXPECT_EQ(co_await end_of(of_a), "ok");
  EXPECT_EQ(co_await birthday(b, 1), "ok");
}
TEST_F(EarlyRelease, SwitchedOffLocksStayUntilTheEnd) {
  run_blocking(not_released(true));
}
TEST_F(EarlyRelease, SerializableTransactionsKeepTheirLocksUntilTheEnd) {
  run_blocking(not_released(false));
}

// What others would read of it may be in its file.
Task<void> EarlyRelease::large_not_released() {
  settings().transaction_cache_bytes = 1;
  start_using(a);
  EXPECT_EQ(co_await birthday(a, 1), "ok");
  const std::string wide(80, 'b');  // other values stay in memory in any case
  EXPECT_EQ(co_await insert(a, person(2, wide.c_str(), 5)), "ok");
  co_await commit_unacknowledged(a, of_a);
  EXPECT_TRUE(services().pipeline.ordered().empty());
  acknowledge();
  EXPECT_EQ(co_await end_of(of_a), "ok");
}
TEST_F(EarlyRelease, LargeTransactionsKeepTheirLocksUntilTheEnd) {
  run_blocking(large_not_released());
}

Task<void> EarlyRelease::hidden_ids() {
  start_using(a);
  const Row one = word("one", 1);
  const auto inserted = co_await a.transaction.insert(words, one);
  EXPECT_EQ(outcome(inserted), "ok");
  EXPECT_EQ(co_await birthday(a, 1), "ok");
  co_await commit_unacknowledged(a, of_a);
  EXPECT_TRUE(services().pipeline.ordered().empty()) << "its row's id is not final yet";
  acknowledge();
  EXPECT_EQ(co_await end_of(of_a), "ok");
}
TEST_F(EarlyRelease, RowsWithoutAFinalIdAreNotShown) {
  run_blocking(hidden_ids());
}

Task<void> EarlyRelease::table_locks() {
  start_using(a);
  const Status shared = co_await a.transaction.lock_table("test", "people", LockMode::Shared);
  EXPECT_TRUE(shared.ok());
  EXPECT_EQ(co_await birthday(a, 1), "ok");
  co_await commit_unacknowledged(a, of_a);
  Transaction::Options hurried;
  hurried.table_lock_wait_timeout = 1ms;
  b.transaction.begin(hurried, {});
  Status exclusive = co_await b.transaction.lock_table("test", "people", LockMode::Exclusive);
  EXPECT_EQ(outcome(exclusive), std::to_string(er::kLockWaitTimeout));
  acknowledge();
  EXPECT_EQ(co_await end_of(of_a), "ok");
  exclusive = co_await b.transaction.lock_table("test", "people", LockMode::Exclusive);
  EXPECT_TRUE(exclusive.ok());
}
TEST_F(EarlyRelease, LocksOfTablesStayUntilTheEnd) {
  run_blocking(table_locks());
}

}  // namespace
}  // namespace commitd::txn
