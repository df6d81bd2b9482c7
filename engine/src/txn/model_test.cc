// Random statements of one client against a plain map: every index must show the same rows after each step,
// before and after commits.
#include <map>
#include <random>

#include "base/error_codes.h"
#include "observe/metrics.h"
#include "txn/testing/transaction_fixture.h"

namespace commitd::txn {
namespace {

using testing::begin;
using testing::Client;
using testing::found;
using testing::TransactionTest;

struct Person {
  std::string name;  // empty = NULL
  int age = 0;
};
using Model = std::map<int, Person>;

Row row_of(int id, const Person& person) {
  return testing::person(id, person.name.empty() ? nullptr : person.name.c_str(), person.age);
}

std::string text_of(int id, const Person& person) {
  return std::to_string(id) + ":" + (person.name.empty() ? "NULL" : person.name) + ":" +
         std::to_string(person.age);
}

// What a scan of each index must find.
std::string expected(const Model& model, size_t index, bool backwards) {
  std::vector<std::pair<std::tuple<std::string, int, int>, std::string>> rows;
  for (const auto& [id, person] : model) {
    const std::string name = index == 1 ? person.name : "";
    rows.push_back({{name, index == 2 ? person.age : 0, id}, text_of(id, person)});
  }
  std::sort(rows.begin(), rows.end());
  if (backwards) std::reverse(rows.begin(), rows.end());
  std::string text;
  for (const auto& row : rows) text += (text.empty() ? "" : " ") + row.second;
  return text;
}

class Workload {
 public:
  Workload(Client& client, TablePtr table, unsigned seed)
      : client_(client), table_(std::move(table)), random_(seed) {}

  Task<void> run(int steps) {
    begin(client_);
    for (int i = 0; i < steps; ++i) {
      co_await step();
      for (size_t index = 0; index < table_->indexes.size(); ++index) {
        const bool backwards = random_() % 2 == 0;
        EXPECT_EQ(found(client_, table_, index, {}, backwards), expected(model_, index, backwards))
            << "step " << i << ", index " << index;
      }
      if (::testing::Test::HasFailure()) co_return;
    }
  }

 private:
  Task<void> step() {
    switch (random_() % 10) {
      case 0: {
        const Status status = co_await client_.transaction.commit();
        EXPECT_TRUE(status.ok());
        committed_ = model_;
        begin(client_);
        break;
      }
      case 1:
        client_.transaction.rollback();
        model_ = committed_;
        begin(client_);
        break;
      case 2:
      case 3:
      case 4:
        co_await insert();
        break;
      case 5:
        co_await erase();
        break;
      default:
        co_await update();
    }
  }

  Person random_person() {
    static const std::array<const char*, 7> kNames = {"", "", "a", "b", "c", "d", "e"};
    return {kNames[random_() % kNames.size()], static_cast<int>(random_() % 4)};
  }

  bool collides(int id, const Person& person, int self) const {
    if (id != self && model_.contains(id)) return true;
    return !person.name.empty() && std::any_of(model_.begin(), model_.end(), [&](const auto& other) {
      return other.first != self && other.second.name == person.name;
    });
  }

  Task<void> insert() {
    const int id = static_cast<int>(random_() % 12);
    const Person person = random_person();
    const Row row = row_of(id, person);
    const auto result = co_await client_.transaction.insert(table_, row);
    EXPECT_TRUE(result.ok());
    EXPECT_EQ(result->has_value(), collides(id, person, -1));
    if (!result->has_value()) model_[id] = person;
  }

  Task<bool> find(int id, FoundRow& row) {
    const std::vector<Value> key(1, Value::integer(id));
    const auto got = co_await client_.transaction.get(table_, key, ReadMode::LockExclusive, row);
    EXPECT_TRUE(got.ok());
    EXPECT_EQ(*got, model_.contains(id));
    co_return *got;
  }

  Task<void> erase() {
    const int id = static_cast<int>(random_() % 12);
    FoundRow row;
    const bool there = co_await find(id, row);
    if (!there) co_return;
    const Status status = co_await client_.transaction.erase(table_, row);
    EXPECT_TRUE(status.ok());
    model_.erase(id);
  }

  Task<void> update() {
    const int id = static_cast<int>(random_() % 12);
    FoundRow row;
    const bool there = co_await find(id, row);
    if (!there) co_return;
    const int new_id = random_() % 2 == 0 ? id : static_cast<int>(random_() % 12);
    const Person person = random_person();
    const Row new_row = row_of(new_id, person);
    const auto result = co_await client_.transaction.update(table_, row, new_row);
    EXPECT_TRUE(result.ok());
    EXPECT_EQ(result->has_value(), collides(new_id, person, id));
    if (result->has_value()) co_return;
    model_.erase(id);
    model_[new_id] = person;
  }

  Client& client_;
  const TablePtr table_;
  std::mt19937 random_;
  Model model_, committed_;
};

Task<void> run_workload(Services& services, unsigned seed) {
  Client client(services);
  Workload workload(client, testing::people_table(), seed);
  co_await workload.run(1500);
}

// What one transaction saw of a row under its lock, and what it made of it; nullopt: no such row.
struct Step {
  int id = 0;
  std::optional<Person> saw, left;
};
struct Transacted {
  uint64_t gno = 0;
  std::vector<Step> steps;
};

bool operator==(const Person& one, const Person& other) {
  return one.name == other.name && one.age == other.age;
}

Person person_of(const FoundRow& row) {
  return {row.values[1].is_null() ? "" : row.values[1].to_text(), static_cast<int>(row.values[2].as_int())};
}

// One of several clients whose locks go before their commits are acknowledged.
class HurriedClient {
 public:
  HurriedClient(Services& services, TablePtr table, unsigned seed)
      : client_(services), table_(std::move(table)), random_(seed) {}

  Task<void> run(int transactions, std::vector<Transacted>& done, int& running) {
    for (int i = 0; i < transactions; ++i) {
      begin(client_);
      client_.transaction.set_unacknowledged(Unacknowledged::Use);
      steps_.clear();
      bool good = true;
      for (size_t n = 1 + random_() % 3; good && n > 0; --n) good = co_await step();
      if (!good) {
        client_.transaction.rollback();
        continue;
      }
      const bool writes = client_.transaction.has_writes();
      const Status committed = co_await client_.transaction.commit();
      if (committed.ok() && writes) done.push_back({client_.transaction.last_gtid().gno, steps_});
    }
    --running;
  }

 private:
  Task<bool> step() {
    const int id = static_cast<int>(random_() % 5);
    const std::vector<Value> key(1, Value::integer(id));
    FoundRow row;
    const auto got = co_await client_.transaction.get(table_, key, ReadMode::LockExclusive, row);
    if (!got) co_return false;
    Step step{id, std::nullopt, std::nullopt};
    if (*got) step.saw = step.left = person_of(row);
    static const std::array<const char*, 4> kNames = {"", "a", "b", "c"};
    const Person wanted{kNames[random_() % kNames.size()], step.saw ? step.saw->age + 1 : 0};
    const Row new_row = row_of(id, wanted);
    if (!*got) {
      const auto inserted = co_await client_.transaction.insert(table_, new_row);
      if (!inserted) co_return false;
      if (*inserted) note_duplicate((*inserted)->row);
      if (!*inserted) step.left = wanted;
    } else if (random_() % 4 == 0) {
      const Status erased = co_await client_.transaction.erase(table_, row);
      if (!erased.ok()) co_return false;
      step.left.reset();
    } else {
      const auto updated = co_await client_.transaction.update(table_, row, new_row);
      if (!updated) co_return false;
      if (*updated) note_duplicate((*updated)->row);
      if (!*updated) step.left = wanted;
    }
    steps_.push_back(step);
    co_return true;
  }

  void note_duplicate(const FoundRow& row) {
    const Person there = person_of(row);
    steps_.push_back({static_cast<int>(row.values[0].as_int()), there, there});
  }

  Client client_;
  const TablePtr table_;
  std::mt19937 random_;
  std::vector<Step> steps_;
};

// Acknowledges by and by, and now and then throws out what is queued.
Task<void> acknowledge_late(Services& services, const int& running) {
  std::mt19937 random(3);
  while (running > 0) {
    co_await sleep_until(Clock::now() + std::chrono::microseconds(random() % 500));
    services.pipeline.acknowledge(services.pipeline.durable_end());
    if (random() % 16 != 0) continue;
    services.pipeline.close_to_local_commits(make_error(er::kOptionPreventsStatement, "closed for a moment"));
    services.pipeline.open_to_local_commits();
  }
}

class ModelTest : public TransactionTest {
 protected:
  Task<void> run_hurried_clients(std::vector<Transacted>& done) {
    services().pipeline.set_gate(binlog::CommitPipeline::Gate::Gated);
    std::vector<std::unique_ptr<HurriedClient>> clients;
    int running = 8;
    for (int i = 0; i < running; ++i)
      clients.push_back(std::make_unique<HurriedClient>(services(), testing::people_table(), i));
    for (auto& client : clients) Reactor::current()->spawn(client->run(150, done, running));
    co_await acknowledge_late(services(), running);
  }
};

// Executed one after the other in the log's order, every transaction would have seen the same.
TEST_F(ModelTest, LocksThatGoEarlyChangeNothingOfWhatTransactionsSee) {
  auto& seen_early = observe::counter("commitd_unacknowledged_versions_seen_total", "");
  const uint64_t before = seen_early.value();
  std::vector<Transacted> done;
  run_blocking(run_hurried_clients(done));
  EXPECT_GT(done.size(), 100u);
  EXPECT_GT(seen_early.value(), before) << "nobody was ahead of an acknowledgement: nothing was tested";
  std::sort(done.begin(), done.end(), [](const auto& one, const auto& other) { return one.gno < other.gno; });
  Model model;
  for (const Transacted& transaction : done) {
    for (const Step& step : transaction.steps) {
      const auto now = model.find(step.id);
      const std::optional<Person> there = now == model.end() ? std::nullopt : std::optional(now->second);
      ASSERT_EQ(step.saw, there) << "transaction " << transaction.gno << ", row " << step.id;
      if (step.left) model[step.id] = *step.left;
      if (!step.left) model.erase(step.id);
    }
  }
  Client client(services());
  begin(client);
  const TablePtr table = testing::people_table();
  for (size_t index = 0; index < table->indexes.size(); ++index)
    EXPECT_EQ(found(client, table, index), expected(model, index, false)) << "index " << index;
}

TEST_F(ModelTest, EveryIndexShowsTheSameRowsWhateverIsDone) {
  run_blocking(run_workload(services(), 5));
}

}  // namespace
}  // namespace commitd::txn
