// Random statements of one client against a plain map: every index must show the same rows after each step,
// before and after commits.
#include <map>
#include <random>

#include "txn/transaction_fixture.h"

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

class ModelTest : public TransactionTest {};

TEST_F(ModelTest, EveryIndexShowsTheSameRowsWhateverIsDone) {
  run_blocking(run_workload(services(), 5));
}

}  // namespace
}  // namespace commitd::txn
