// SERIALIZABLE: what a transaction has not seen in a range does not appear there before it ends.
#include <random>

#include "base/error_codes.h"
#include "txn/range_locks.h"
#include "txn/testing/transaction_fixture.h"

namespace commitd::txn {
namespace {

using namespace std::chrono_literals;
using testing::begin;
using testing::Client;
using testing::people_table;
using testing::person;
using testing::TransactionTest;

IndexRange between(int from, int to) {
  IndexRange range;
  range.lower = Bound{{Value::integer(from)}, true};
  range.upper = Bound{{Value::integer(to)}, true};
  return range;
}

int code(const Status& status) {
  return status.ok() ? 0 : status.error().code;
}

// Ids in an index range, as a locking read finds them; -code for an error.
Task<std::vector<int64_t>> locked_ids(Client& client, TablePtr table, size_t index, IndexRange range) {
  const auto cursor = client.transaction.scan(table, table->indexes[index], range, ReadMode::LockShared);
  std::vector<int64_t> ids;
  FoundRow row;
  while (true) {
    const auto more = co_await cursor->next_locked(row);
    if (!more.ok()) {
      ids.assign(1, -int64_t{more.error().code});
      co_return ids;
    }
    if (!*more) co_return ids;
    ids.push_back(row.values[0].as_int());
  }
}

Task<int> insert(Client& client, TablePtr table, Row row) {
  const auto result = co_await client.transaction.insert(table, row);
  co_return result.ok() ? 0 : static_cast<int>(result.error().code);
}
Task<int> commit(Client& client) {
  const Status status = co_await client.transaction.commit();
  co_return code(status);
}

struct Started {
  int outcome = -1;
  bool waits() const { return outcome == -1; }
};
Task<void> run(Task<int> task, Started& started) {
  started.outcome = co_await task;
}
void start(Task<int> task, Started& started) {
  Reactor::current()->spawn(run(std::move(task), started));
}
Task<void> settle() {
  co_await sleep_until(Clock::now() + 10ms);
}
Task<void> until_done(Started& started) {
  while (started.waits()) co_await sleep_until(Clock::now() + 1ms);
}

using Ids = std::vector<int64_t>;

class SerializableTest : public TransactionTest {
 protected:
  TablePtr people = people_table();
  Client a{services()}, b{services()};
};

Task<void> fill(Client& client, TablePtr people) {
  begin(client);
  for (const int id : {10, 20, 30}) {
    const int inserted = co_await insert(client, people, person(id, nullptr, id));
    EXPECT_EQ(inserted, 0);
  }
  const int committed = co_await commit(client);
  EXPECT_EQ(committed, 0);
}

Task<void> inserts_wait(Client& a, Client& b, TablePtr people) {
  co_await fill(a, people);
  begin(a, Isolation::Serializable);
  Ids ids = co_await locked_ids(a, people, 0, between(5, 25));
  EXPECT_EQ(ids, (Ids{10, 20}));
  begin(b);
  const int outside = co_await insert(b, people, person(26, nullptr, 1));
  EXPECT_EQ(outside, 0);
  Started inside;
  start(insert(b, people, person(15, nullptr, 1)), inside);
  co_await settle();
  EXPECT_TRUE(inside.waits());
  const int own = co_await insert(a, people, person(16, nullptr, 1));
  EXPECT_EQ(own, 0) << "a range keeps others out, not its reader";
  ids = co_await locked_ids(a, people, 0, between(5, 25));
  EXPECT_EQ(ids, (Ids{10, 16, 20}));
  const int committed = co_await commit(a);
  EXPECT_EQ(committed, 0);
  co_await until_done(inside);
  EXPECT_EQ(inside.outcome, 0);
  b.transaction.rollback();
}
TEST_F(SerializableTest, AnInsertIntoARangeThatWasReadWaits) {
  run_blocking(inserts_wait(a, b, people));
}

Task<void> commits_wait(Client& a, Client& b, TablePtr people) {
  co_await fill(a, people);
  begin(b);
  const int inserted = co_await insert(b, people, person(15, nullptr, 1));
  EXPECT_EQ(inserted, 0);
  begin(a, Isolation::Serializable);
  Ids ids = co_await locked_ids(a, people, 0, between(5, 25));
  EXPECT_EQ(ids, (Ids{10, 20}));
  Started committing;
  start(commit(b), committing);
  co_await settle();
  EXPECT_TRUE(committing.waits()) << "what it wrote before the range was read must not appear in it";
  ids = co_await locked_ids(a, people, 0, between(5, 25));
  EXPECT_EQ(ids, (Ids{10, 20}));
  a.transaction.rollback();
  co_await until_done(committing);
  EXPECT_EQ(committing.outcome, 0);
  begin(a, Isolation::Serializable);
  ids = co_await locked_ids(a, people, 0, between(5, 25));
  EXPECT_EQ(ids, (Ids{10, 15, 20}));
  a.transaction.rollback();
}
TEST_F(SerializableTest, ACommitWaitsForRangesReadSinceItsInsert) {
  run_blocking(commits_wait(a, b, people));
}

// A row that is moved into the range of a secondary index.
Task<int> set_age(Client& client, TablePtr people, int id, int age) {
  FoundRow row;
  const std::vector<Value> key(1, Value::integer(id));
  const auto found = co_await client.transaction.get(people, key, ReadMode::LockExclusive, row);
  EXPECT_TRUE(found.ok() && *found);
  Row changed = row.values;
  changed[2] = Value::integer(age);
  const auto result = co_await client.transaction.update(people, row, changed);
  co_return result.ok() ? 0 : static_cast<int>(result.error().code);
}
Task<void> updates_wait(Client& a, Client& b, TablePtr people) {
  co_await fill(a, people);
  begin(a, Isolation::Serializable);
  const Ids ids = co_await locked_ids(a, people, 2, between(5, 25));
  EXPECT_EQ(ids, (Ids{10, 20}));
  begin(b);
  const int outside = co_await set_age(b, people, 30, 31);
  EXPECT_EQ(outside, 0);
  Started inside;
  start(set_age(b, people, 30, 15), inside);
  co_await settle();
  EXPECT_TRUE(inside.waits());
  a.transaction.rollback();
  co_await until_done(inside);
  EXPECT_EQ(inside.outcome, 0);
  b.transaction.rollback();
}
TEST_F(SerializableTest, ARowMovedIntoARangeOfASecondaryIndexWaits) {
  run_blocking(updates_wait(a, b, people));
}

Task<void> repeatable_read(Client& a, Client& b, TablePtr people) {
  co_await fill(a, people);
  begin(a);
  Ids ids = co_await locked_ids(a, people, 0, between(5, 25));
  EXPECT_EQ(ids, (Ids{10, 20}));
  begin(b);
  const int inserted = co_await insert(b, people, person(15, nullptr, 1));
  EXPECT_EQ(inserted, 0);
  const int committed = co_await commit(b);
  EXPECT_EQ(committed, 0);
  ids = co_await locked_ids(a, people, 0, between(5, 25));
  EXPECT_EQ(ids, (Ids{10, 15, 20})) << "as the README says";
  a.transaction.rollback();
}
TEST_F(SerializableTest, RepeatableReadLocksRowsOnly) {
  run_blocking(repeatable_read(a, b, people));
}

Task<void> drained(RangeLocks& ranges) {
  RangeLocks::InFlight older(ranges);
  Started reader;
  const auto wait = [](RangeLocks& of) -> Task<int> {
    const bool done = co_await of.commits_in_flight_done(Clock::now() + 60s);
    co_return done ? 0 : 1;
  };
  start(wait(ranges), reader);
  co_await settle();
  EXPECT_TRUE(reader.waits());
  RangeLocks::InFlight newer(ranges);
  older.leave();
  co_await until_done(reader);
  EXPECT_EQ(reader.outcome, 0) << "a commit that began after the range was entered is not waited for";
  newer.leave();
  RangeLocks::InFlight stuck(ranges);
  const bool done = co_await ranges.commits_in_flight_done(Clock::now() + 5ms);
  EXPECT_FALSE(done);
}
// However many readers come after it, a commit that was there first is waited for.
Task<void> old_commit(RangeLocks& ranges) {
  RangeLocks::InFlight old(ranges);
  for (int reader = 0; reader < 200; ++reader) {
    const bool done = co_await ranges.commits_in_flight_done(Clock::now());
    EXPECT_FALSE(done) << "reader " << reader;
  }
  old.leave();
  const bool done = co_await ranges.commits_in_flight_done(Clock::now());
  EXPECT_TRUE(done);
}
TEST(RangeLocks, AnOldCommitIsNeverTakenForANewerOne) {
  RangeLocks ranges;
  run_blocking(old_commit(ranges));
}

TEST(RangeLocks, AReaderWaitsForTheCommitsInFlight) {
  RangeLocks ranges;
  run_blocking(drained(ranges));
}

// Nobody may make a fifth row in a range: each counts, then inserts. Without range locks two that count at
// the same time both do.
struct Bounded {
  static constexpr size_t kMostRows = 4;
  size_t inserted = 0, deadlocks = 0, running = 0;
};
Task<void> insert_if_room(Services& services, TablePtr people, unsigned seed, Bounded& bounded) {
  Client client(services);
  std::mt19937 random(seed);
  for (int round = 0; round < 25; ++round) {
    const int range = static_cast<int>(random() % 6) * 100;
    begin(client, Isolation::Serializable);
    const Ids ids = co_await locked_ids(client, people, 0, between(range, range + 99));
    const bool failed = !ids.empty() && ids.front() < 0;
    if (failed) ++bounded.deadlocks;
    if (failed || ids.size() >= Bounded::kMostRows) {
      client.transaction.rollback();
      continue;
    }
    const int id = range + static_cast<int>(random() % 100);
    int outcome = co_await insert(client, people, person(id, nullptr, 1));
    if (outcome == 0) outcome = co_await commit(client);
    if (outcome == 0) {
      ++bounded.inserted;
    } else {
      ++bounded.deadlocks;
      EXPECT_EQ(outcome, er::kLockDeadlock);
    }
    client.transaction.rollback();
  }
  --bounded.running;
}
Task<void> no_phantoms(Services& services, TablePtr people) {
  Bounded bounded;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    ++bounded.running;
    Reactor::current()->spawn(insert_if_room(services, people, seed, bounded));
  }
  while (bounded.running > 0) co_await settle();
  Client client(services);
  begin(client, Isolation::Serializable);
  for (int range = 0; range < 600; range += 100) {
    const Ids ids = co_await locked_ids(client, people, 0, between(range, range + 99));
    EXPECT_LE(ids.size(), Bounded::kMostRows) << "two transactions counted before either had inserted";
  }
  client.transaction.rollback();
  EXPECT_GT(bounded.inserted, 0u) << "they only got in each other's way: " << bounded.deadlocks;
}
TEST_F(SerializableTest, NobodyCountsPastWhatOthersAreAboutToInsert) {
  run_blocking(no_phantoms(services(), people));
}

}  // namespace
}  // namespace commitd::txn
