#include "txn/transaction.h"

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

// "ok", the name of the index that has the value already, or the error's number.
std::string outcome(const Result<std::optional<Transaction::Duplicate>>& result) {
  if (!result) return std::to_string(result.error().code);
  return *result ? (*result)->index->name : "ok";
}

std::string message(const Status& status) {
  return status.ok() ? "" : status.error().message;
}

Task<std::string> insert(Client& client, TablePtr table, Row row) {
  const auto result = co_await client.transaction.insert(table, row);
  co_return outcome(result);
}

Task<Result<bool>> get(Client& client, TablePtr table, int id, ReadMode mode, FoundRow& row) {
  const std::vector<Value> key(1, Value::integer(id));
  co_return co_await client.transaction.get(table, key, mode, row);
}

// g++ 12 cannot have the braces of a list in a coroutine's co_await expression.
std::vector<Row> people_rows(std::initializer_list<Row> rows) {
  return rows;
}

Task<void> insert_and_commit(Client& client, TablePtr table, std::vector<Row> rows) {
  begin(client);
  for (const Row& row : rows) EXPECT_EQ(co_await insert(client, table, row), "ok");
  const Status status = co_await client.transaction.commit();
  EXPECT_TRUE(status.ok()) << message(status);
}

IndexRange equal_to(int value) {
  return IndexRange::equal({Value::integer(value)});
}
IndexRange nulls() {
  return IndexRange::equal({Value::null()});
}

// A statement of another client that may wait.
struct Started {
  std::string outcome = "waiting";
};
Task<void> run_insert(Client& client, TablePtr table, Row row, Started& started) {
  started.outcome = co_await insert(client, table, row);
}
Task<void> settle() {
  co_await sleep_until(Clock::now() + 5ms);
}

class Transactions : public TransactionTest {
 protected:
  TablePtr people = people_table();
  TablePtr words = words_table();
  Client a{services()}, b{services()};
};

Task<void> visibility(Client& a, Client& b, TablePtr people) {
  begin(b);
  b.transaction.take_snapshot();
  begin(a);
  EXPECT_EQ(co_await insert(a, people, person(1, "Ann", 30)), "ok");
  EXPECT_EQ(found(a, people), "1:Ann:30");
  EXPECT_EQ(found(b, people), "");
  const Status status = co_await a.transaction.commit();
  EXPECT_TRUE(status.ok()) << message(status);
  EXPECT_EQ(a.transaction.last_gtid().gno, 1u);
  EXPECT_EQ(found(b, people), "") << "a repeatable read keeps its snapshot";
  begin(b, Isolation::ReadCommitted);
  EXPECT_EQ(found(b, people), "1:Ann:30");
}
TEST_F(Transactions, AreVisibleToOthersWhenCommittedAndToOlderSnapshotsNever) {
  run_blocking(visibility(a, b, people));
}

Task<void> read_committed(Client& a, Client& b, TablePtr people) {
  begin(b, Isolation::ReadCommitted);
  EXPECT_EQ(found(b, people), "");
  const std::vector<Row> rows = people_rows({person(1, "Ann", 30)});
  co_await insert_and_commit(a, people, rows);
  EXPECT_EQ(found(b, people), "") << "one statement reads one state";
  b.transaction.end_statement();
  b.transaction.begin_statement();
  EXPECT_EQ(found(b, people), "1:Ann:30");
}
TEST_F(Transactions, ReadCommittedSeesWhatWasCommittedBeforeItsStatement) {
  run_blocking(read_committed(a, b, people));
}

Task<void> duplicates(Client& a, TablePtr people) {
  const std::vector<Row> rows =
      people_rows({person(1, "Ann", 30), person(2, nullptr, 1), person(3, nullptr, 1)});
  co_await insert_and_commit(a, people, rows);
  begin(a);
  EXPECT_EQ(co_await insert(a, people, person(1, "Bob", 1)), "PRIMARY");
  EXPECT_EQ(co_await insert(a, people, person(4, "ÁNN ", 1)), "name");
  EXPECT_EQ(co_await insert(a, people, person(4, "Bob", 1)), "ok");
  EXPECT_EQ(co_await insert(a, people, person(5, "bob", 1)), "name") << "own rows count";
  auto collision = co_await a.transaction.insert(people, person(9, "ann", 1));
  EXPECT_TRUE(collision.ok());
  EXPECT_EQ((*collision)->row.values[0].as_int(), 1);
  const Status erased = co_await a.transaction.erase(people, (*collision)->row);
  EXPECT_TRUE(erased.ok());
  EXPECT_EQ(co_await insert(a, people, person(9, "ann", 1)), "ok") << "what this transaction erased is free";
}
TEST_F(Transactions, UniqueKeysAreKept) {
  run_blocking(duplicates(a, people));
}

Task<void> waiting_inserts(Client& a, Client& b, TablePtr people) {
  begin(a);
  begin(b);
  EXPECT_EQ(co_await insert(a, people, person(1, "Ann", 30)), "ok");
  Started same_name;
  Reactor::current()->spawn(run_insert(b, people, person(2, "ann", 31), same_name));
  co_await settle();
  EXPECT_EQ(same_name.outcome, "waiting");
  a.transaction.rollback();
  co_await settle();
  EXPECT_EQ(same_name.outcome, "ok");

  begin(a);
  Started again;
  Reactor::current()->spawn(run_insert(a, people, person(3, "Ann", 30), again));
  co_await settle();
  EXPECT_EQ(again.outcome, "waiting");
  const Status status = co_await b.transaction.commit();
  EXPECT_TRUE(status.ok()) << message(status);
  co_await settle();
  EXPECT_EQ(again.outcome, "name");
}
TEST_F(Transactions, AnInsertWaitsForTheOneThatHasItsKeyFirst) {
  run_blocking(waiting_inserts(a, b, people));
}

Task<void> freed_key(Client& a, Client& b, TablePtr people) {
  const std::vector<Row> rows = people_rows({person(1, "Ann", 30)});
  co_await insert_and_commit(a, people, rows);
  begin(a);
  FoundRow row;
  const auto got = co_await get(a, people, 1, ReadMode::LockExclusive, row);
  EXPECT_TRUE(got.ok() && *got);
  const auto renamed = co_await a.transaction.update(people, row, person(1, "Eve", 30));
  EXPECT_EQ(outcome(renamed), "ok");
  begin(b);
  Started freed;
  Reactor::current()->spawn(run_insert(b, people, person(2, "Ann", 1), freed));
  co_await settle();
  EXPECT_EQ(freed.outcome, "waiting") << "the name is free only if the renaming commits";
  const Status status = co_await a.transaction.commit();
  EXPECT_TRUE(status.ok()) << message(status);
  co_await settle();
  EXPECT_EQ(freed.outcome, "ok");
}
TEST_F(Transactions, AKeyGivenUpByAnotherTransactionIsWaitedFor) {
  run_blocking(freed_key(a, b, people));
}

Task<void> updates(Client& a, TablePtr people) {
  const std::vector<Row> rows = people_rows({person(1, "Ann", 30), person(2, "Bob", 20)});
  co_await insert_and_commit(a, people, rows);
  begin(a);
  FoundRow row;
  std::vector<Value> name(1, Value::string("ANN"));
  const auto got =
      co_await a.transaction.get_by_unique(people, people->indexes[1], name, ReadMode::LockExclusive, row);
  EXPECT_TRUE(got.ok() && *got);
  auto result = co_await a.transaction.update(people, row, person(2, "Ann", 30));
  EXPECT_EQ(outcome(result), "PRIMARY");
  result = co_await a.transaction.update(people, row, person(1, "bob", 30));
  EXPECT_EQ(outcome(result), "name");
  result = co_await a.transaction.update(people, row, person(7, "ANN", 5));
  EXPECT_EQ(outcome(result), "ok") << "a row does not collide with itself";
  const Status status = co_await a.transaction.commit();
  EXPECT_TRUE(status.ok()) << message(status);
  begin(a);
  EXPECT_EQ(found(a, people), "2:Bob:20 7:ANN:5");
  EXPECT_EQ(found(a, people, 1), "7:ANN:5 2:Bob:20");
  EXPECT_EQ(found(a, people, 2), "7:ANN:5 2:Bob:20");
}
TEST_F(Transactions, UpdatesMoveRowsAndTheirIndexEntries) {
  run_blocking(updates(a, people));
}

Task<void> scans(Client& a, TablePtr people) {
  const std::vector<Row> rows =
      people_rows({person(1, "Ann", 30), person(3, "Cid", 20), person(5, "Eve", 20), person(7, nullptr, 40)});
  co_await insert_and_commit(a, people, rows);
  begin(a);
  EXPECT_EQ(co_await insert(a, people, person(4, "Dan", 20)), "ok");
  FoundRow row;
  const auto got = co_await get(a, people, 5, ReadMode::LockExclusive, row);
  EXPECT_TRUE(got.ok() && *got);
  const Status erased = co_await a.transaction.erase(people, row);
  EXPECT_TRUE(erased.ok());
  EXPECT_EQ(found(a, people), "1:Ann:30 3:Cid:20 4:Dan:20 7:NULL:40");
  EXPECT_EQ(found(a, people, 0, {}, true), "7:NULL:40 4:Dan:20 3:Cid:20 1:Ann:30");
  EXPECT_EQ(found(a, people, 2, equal_to(20)), "3:Cid:20 4:Dan:20");
  IndexRange range;
  range.lower = equal_to(1).lower;
  range.lower->inclusive = false;
  range.upper = equal_to(4).upper;
  EXPECT_EQ(found(a, people, 0, range), "3:Cid:20 4:Dan:20");
  EXPECT_EQ(found(a, people, 0, range, true), "4:Dan:20 3:Cid:20");
  EXPECT_EQ(found(a, people, 1, nulls()), "7:NULL:40");
}
TEST_F(Transactions, ScansMergeOwnWritesInIndexOrder) {
  run_blocking(scans(a, people));
}

Task<void> change(Client& client, TablePtr people, int id, Row changed) {
  FoundRow row;
  const auto got = co_await get(client, people, id, ReadMode::LockExclusive, row);
  EXPECT_TRUE(got.ok() && *got);
  const auto updated = co_await client.transaction.update(people, row, changed);
  EXPECT_EQ(outcome(updated), "ok");
}

Task<void> own_changes_of_newer_rows(Client& a, Client& b, TablePtr people) {
  const std::vector<Row> older = people_rows({person(1, "Ann", 30), person(2, "Bob", 20)});
  const std::vector<Row> newer = people_rows({person(3, "Cid", 40)});
  co_await insert_and_commit(a, people, older);
  begin(b);
  b.transaction.take_snapshot();
  co_await insert_and_commit(a, people, newer);
  begin(a);
  co_await change(a, people, 2, person(2, "Bob", 25));
  const Status status = co_await a.transaction.commit();
  EXPECT_TRUE(status.ok()) << message(status);
  co_await change(b, people, 3, person(3, "Cyd", 40));
  EXPECT_EQ(found(b, people, 2, equal_to(40)), "3:Cyd:40") << "the entry is newer than the snapshot";
  co_await change(b, people, 2, person(2, "Rob", 25));
  EXPECT_EQ(found(b, people, 2, equal_to(20)), "") << "the snapshot's entry is not that of its own version";
  EXPECT_EQ(found(b, people, 2, equal_to(25)), "2:Rob:25");
  EXPECT_EQ(found(b, people, 2), "2:Rob:25 1:Ann:30 3:Cyd:40") << "each once";
  EXPECT_EQ(found(b, people, 1), "1:Ann:30 3:Cyd:40 2:Rob:25");
  FoundRow row;
  const std::vector<Value> bob(1, Value::string("Bob"));
  const auto by_name =
      co_await b.transaction.get_by_unique(people, people->indexes[1], bob, ReadMode::Snapshot, row);
  EXPECT_TRUE(by_name.ok() && !*by_name);
}
TEST_F(Transactions, FindTheirOwnVersionsOfRowsThatAreNewerThanTheirSnapshot) {
  run_blocking(own_changes_of_newer_rows(a, b, people));
}

Task<std::string> locked_scan(Client& client, TablePtr table, size_t index, IndexRange range) {
  const auto cursor = client.transaction.scan(table, table->indexes[index], range, ReadMode::LockExclusive);
  std::string text;
  FoundRow row;
  while (true) {
    const auto more = co_await cursor->next_locked(row);
    if (!more) co_return std::to_string(more.error().code);
    if (!*more) co_return text;
    text += row.values[1].to_text() + ";";
  }
}
Task<void> run_locked_scan(Client& client, TablePtr table, size_t index, IndexRange range, Started& started) {
  started.outcome = co_await locked_scan(client, table, index, range);
}

Task<void> locking_scan_rechecks(Client& a, Client& b, TablePtr people) {
  const std::vector<Row> rows =
      people_rows({person(1, "Ann", 20), person(2, "Bob", 20), person(3, "Cid", 20)});
  co_await insert_and_commit(a, people, rows);
  begin(a);
  FoundRow row;
  auto got = co_await get(a, people, 1, ReadMode::LockExclusive, row);
  const auto aged = co_await a.transaction.update(people, row, person(1, "Ann", 21));
  EXPECT_EQ(outcome(aged), "ok");
  got = co_await get(a, people, 2, ReadMode::LockExclusive, row);
  const Status erased = co_await a.transaction.erase(people, row);
  EXPECT_TRUE(erased.ok());
  begin(b);
  Started scan;
  Reactor::current()->spawn(run_locked_scan(b, people, 2, equal_to(20), scan));
  co_await settle();
  EXPECT_EQ(scan.outcome, "waiting");
  const Status status = co_await a.transaction.commit();
  EXPECT_TRUE(status.ok()) << message(status);
  co_await settle();
  EXPECT_EQ(scan.outcome, "Cid;");
  EXPECT_EQ(b.owner.lock_count(), 1u) << "rows that no longer match are let go";
}
TEST_F(Transactions, LockingScansReadTheNewestVersionOfWhatTheyWaitedFor) {
  run_blocking(locking_scan_rechecks(a, b, people));
}

Task<void> statements_and_savepoints(Client& a, TablePtr people) {
  begin(a);
  EXPECT_EQ(co_await insert(a, people, person(1, "Ann", 1)), "ok");
  a.transaction.end_statement();
  a.transaction.begin_statement();
  EXPECT_EQ(co_await insert(a, people, person(2, "Bob", 2)), "ok");
  a.transaction.rollback_statement();
  EXPECT_EQ(found(a, people), "1:Ann:1");
  a.transaction.savepoint("s");
  EXPECT_EQ(co_await insert(a, people, person(3, "Cid", 3)), "ok");
  a.transaction.savepoint("t");
  EXPECT_TRUE(a.transaction.rollback_to_savepoint("S").ok());
  EXPECT_EQ(a.transaction.rollback_to_savepoint("t").error().code, er::kSpDoesNotExist);
  EXPECT_TRUE(a.transaction.release_savepoint("s").ok());
  EXPECT_EQ(a.transaction.release_savepoint("s").error().code, er::kSpDoesNotExist);
  const Status status = co_await a.transaction.commit();
  EXPECT_TRUE(status.ok()) << message(status);
  begin(a);
  EXPECT_EQ(found(a, people), "1:Ann:1");
}
TEST_F(Transactions, FailedStatementsAndSavepointsAreUndoneAlone) {
  run_blocking(statements_and_savepoints(a, people));
}

Task<void> no_primary_key(Client& a, Client& b, TablePtr words) {
  begin(a);
  begin(b);
  EXPECT_EQ(co_await insert(a, words, word("late", 1)), "ok");
  EXPECT_EQ(co_await insert(b, words, word("early", 1)), "ok");
  EXPECT_EQ(co_await insert(b, words, word("early", 1)), "ok");
  EXPECT_EQ(found(b, words, 1), "early:1 early:1");
  Status status = co_await b.transaction.commit();
  EXPECT_TRUE(status.ok()) << message(status);
  status = co_await a.transaction.commit();
  EXPECT_TRUE(status.ok()) << message(status);

  begin(a);
  EXPECT_EQ(found(a, words), "early:1 early:1 late:1") << "row ids are given in commit order";
  const auto cursor = a.transaction.scan(words, words->clustered(), {}, ReadMode::LockExclusive);
  FoundRow row;
  const auto got = co_await cursor->next_locked(row);
  EXPECT_TRUE(got.ok() && *got);
  EXPECT_EQ(row.row_id, 1u);
  status = co_await a.transaction.erase(words, row);
  EXPECT_TRUE(status.ok()) << message(status);
  EXPECT_EQ(co_await insert(a, words, word("mine", 3)), "ok");
  FoundRow own;
  const auto own_cursor = a.transaction.scan(words, words->indexes[1], equal_to(3), ReadMode::LockExclusive);
  const auto own_got = co_await own_cursor->next_locked(own);
  EXPECT_TRUE(own_got.ok() && *own_got);
  const auto changed = co_await a.transaction.update(words, own, word("mine", 4));
  EXPECT_EQ(outcome(changed), "ok");
  status = co_await a.transaction.commit();
  EXPECT_TRUE(status.ok()) << message(status);
  begin(a);
  EXPECT_EQ(found(a, words), "early:1 late:1 mine:4");
  EXPECT_EQ(found(a, words, 1), "early:1 late:1 mine:4");
}
TEST_F(Transactions, TablesWithoutAPrimaryKeyKeepTheirRowsApart) {
  run_blocking(no_primary_key(a, b, words));
}

Task<void> auto_increment(Client& a, Client& b, TablePtr people, storage::Engine& engine) {
  begin(a);
  EXPECT_EQ(*a.transaction.next_auto_increment(*people, 2), 1u);
  EXPECT_EQ(co_await insert(a, people, person(50, "Ann", 1)), "ok");
  EXPECT_EQ(*b.transaction.next_auto_increment(*people, 1), 51u)
      << "a value given by hand is not given again";
  const Status status = co_await a.transaction.commit();
  EXPECT_TRUE(status.ok()) << message(status);
  EXPECT_EQ(engine.peek_auto_increment(people->id), 52u);
}
TEST_F(Transactions, AutoIncrementRunsAheadOfWhatIsThere) {
  run_blocking(auto_increment(a, b, people, engine()));
}

Task<void> deadlock(Client& a, Client& b, TablePtr people) {
  const std::vector<Row> rows = people_rows({person(1, "Ann", 1), person(2, "Bob", 2)});
  co_await insert_and_commit(a, people, rows);
  begin(a);
  begin(b);
  FoundRow row;
  auto got = co_await get(a, people, 1, ReadMode::LockExclusive, row);
  got = co_await get(b, people, 2, ReadMode::LockShared, row);
  Started waits;
  Reactor::current()->spawn(run_locked_scan(b, people, 0, equal_to(1), waits));
  co_await settle();
  EXPECT_EQ(waits.outcome, "waiting");
  got = co_await get(a, people, 2, ReadMode::LockExclusive, row);
  EXPECT_EQ(got.ok() ? 0 : got.error().code, er::kLockDeadlock);
  a.transaction.rollback();
  co_await settle();
  EXPECT_EQ(waits.outcome, "Ann;");
}
TEST_F(Transactions, ADeadlockEndsOneOfThem) {
  run_blocking(deadlock(a, b, people));
}

Task<void> too_large(Client& a, TablePtr people) {
  Transaction::Options options;
  options.max_bytes = 2000;
  a.transaction.begin(options, {});
  std::string result = "ok";
  for (int id = 1; id < 1000 && result == "ok"; ++id)
    result = co_await insert(a, people, person(id, nullptr, 1));
  EXPECT_EQ(result, std::to_string(er::kTransCacheFull));
}
TEST_F(Transactions, ATransactionThatGrowsTooLargeIsRefused) {
  run_blocking(too_large(a, people));
}

Task<void> table_lock(Client& a, Client& b) {
  begin(a);
  const Status shared = co_await a.transaction.lock_table("test", "people", LockMode::Shared);
  EXPECT_TRUE(shared.ok());
  Transaction::Options hurried;
  hurried.table_lock_wait_timeout = 10ms;
  b.transaction.begin(hurried, {});
  Status exclusive = co_await b.transaction.lock_table("test", "people", LockMode::Exclusive);
  EXPECT_EQ(exclusive.ok() ? 0 : exclusive.error().code, er::kLockWaitTimeout);
  a.transaction.rollback();
  exclusive = co_await b.transaction.lock_table("test", "people", LockMode::Exclusive);
  EXPECT_TRUE(exclusive.ok());
  WriteSet ddl;
  ddl.put("catalog", "people");
  bool published = false;
  const Status committed = co_await b.transaction.commit_statement(
      "test", "CREATE TABLE people (…)", std::move(ddl), [&published] { published = true; });
  EXPECT_TRUE(committed.ok());
  EXPECT_TRUE(published);
  EXPECT_EQ(b.owner.lock_count(), 0u);
}
TEST_F(Transactions, DdlWaitsForWhoUsesTheTableAndPublishesWhenCommitted) {
  run_blocking(table_lock(a, b));
}

}  // namespace
}  // namespace commitd::txn
