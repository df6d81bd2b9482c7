#include "server/testing/crash_workload.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include "runtime/reactor.h"
#include "server/testing/crash_oracle.h"

namespace commitd::server::testing {

// One client. What its transactions do depends on the seed alone; how they interleave does not.
class CrashWorkload::Writer {
 public:
  Writer(CrashWorkload& workload, BareServer& server, int number)
      : workload_(workload),
        server_(server),
        session_(server.connect()),
        number_(number),
        random_(workload.shape_.seed * 100 + number) {
    execute("USE test");
  }

  void run() {
    for (int i = 0; i < workload_.shape_.transactions; ++i) {
      const int64_t id = number_ * 10'000 + i;
      const bool logged = i % 9 != 8;
      if (!logged) execute("SET sql_log_bin = 0");
      execute("BEGIN");
      bool good = execute(fmt::format("INSERT INTO ledger VALUES ({}, {}, '{}')", id, number_, padding(40)));
      if (logged) {
        good = good && change_something();
      }
      good = good && execute("COMMIT");
      if (!good) execute("ROLLBACK");
      if (!logged) execute("SET sql_log_bin = 1");
      if (good) workload_.note(server_, id);
      ++workload_.committed_;
    }
    --workload_.writers_left_;
  }

 private:
  bool execute(const std::string& statement) { return workload_.execute(server_, *session_, statement); }
  int below(int bound) { return static_cast<int>(random_() % bound); }
  std::string padding(int most) { return std::string(1 + below(most), static_cast<char>('a' + below(26))); }

  bool change_something() {
    switch (below(7)) {
      case 0:
      case 1:
        return transfer();
      case 2:
        return change_rows_without_key();
      case 3:
        return change_unique();
      case 4:
        return change_rows_in_memory();
      case 5:
        return change_more_than_memory();
      default:
        return execute(
            fmt::format("INSERT INTO large (writer, body) VALUES ({}, '{}')", number_, padding(4000)));
    }
  }

  bool transfer() {
    const int from = below(kAccounts - 1),
              to = from + 1 + below(kAccounts - 1 - from);  // ascending: no deadlocks
    const int amount = below(50) - 25;
    return execute(fmt::format("UPDATE account SET balance = balance - {}, note = '{}' WHERE id = {}", amount,
                               padding(30), from)) &&
           execute(fmt::format("UPDATE account SET balance = balance + {} WHERE id = {}", amount, to));
  }

  // Rows of its own, found without an index that others would lock.
  bool change_rows_without_key() {
    const int row = number_ * 1000 + below(8);
    return execute(fmt::format("INSERT INTO keyless VALUES ({}, 1), ({}, 2)", row, row + 100)) &&
           execute(fmt::format("UPDATE keyless SET n = n + 1 WHERE k = {}", row)) &&
           execute(fmt::format("DELETE FROM keyless WHERE k = {}", row + 100));
  }

  // Not transactional, and without a primary key: their row ids are counted durably all the same.
  bool change_rows_in_memory() {
    const int row = number_ * 1000 + below(8);
    return execute(fmt::format("INSERT INTO fleeting VALUES ({}, 1), ({}, 2)", row, row + 100)) &&
           execute(fmt::format("DELETE FROM fleeting WHERE k = {}", row + 100));
  }

  // Spilled to a temporary file, with a savepoint behind what is in it already, and taken by the engine in
  // parts.
  bool change_more_than_memory() {
    const int first = number_ * 1000;
    std::string rows;
    for (int id = first; id < first + 8; ++id)
      rows += fmt::format("{}({}, {}, '{}')", rows.empty() ? "" : ", ", id, id, padding(40) + padding(1600));
    return execute("REPLACE INTO bulky VALUES " + rows) && execute("SAVEPOINT filled") &&
           execute(fmt::format("UPDATE bulky SET n = n + 5, body = CONCAT(body, '{}') WHERE id = {}",
                               padding(3000), first + below(8))) &&
           execute(fmt::format("DELETE FROM bulky WHERE id = {}", first + below(8))) &&
           (below(2) == 0 || execute("ROLLBACK TO filled")) &&
           execute(fmt::format("UPDATE bulky SET n = n + 1 WHERE id BETWEEN {} AND {}", first, first + 3));
  }

  bool change_unique() {
    const int name = number_ * 100 + below(10);
    return execute(fmt::format("REPLACE INTO named (id, name, body) VALUES ({}, 'n{}', '{}')", name, name,
                               padding(60))) &&
           execute(fmt::format(
               "INSERT INTO named (id, name) VALUES ({}, 'n{}') ON DUPLICATE KEY UPDATE body = '{}'",
               name + 50, name, padding(60)));
  }

  CrashWorkload& workload_;
  BareServer& server_;
  std::unique_ptr<sql::Session> session_;
  const int number_;
  std::mt19937 random_;
};

bool CrashWorkload::execute(BareServer& server, sql::Session& session, const std::string& statement) {
  const std::string answer = server.run(session, statement);
  if (answer.find("ERROR") == std::string::npos) return true;
  complain(statement.substr(0, 100) + ": " + answer);
  return false;
}

void CrashWorkload::complain(std::string problem) {
  std::lock_guard lock(mutex_);
  problems.push_back(std::move(problem));
}

void CrashWorkload::note(BareServer& server, int64_t ledger) {
  Promise promise;
  promise.executed = server.pipeline().gtid_executed();
  promise.ledger = ledger;
  promise.step = files.steps();  // behind the answer: what was answered counts from here on
  std::lock_guard lock(mutex_);
  promises.push_back(std::move(promise));
}

void CrashWorkload::prepare() {
  {
    BareServer server(files);
    server.xa = shape_.xa;
    if (auto made = server.create(); !made.ok()) throw std::runtime_error(made.error().message);
  }
  BareServer server(files);
  server.xa = shape_.xa;
  if (auto started = server.start(); !started.ok()) throw std::runtime_error(started.error().message);
  const auto session = server.connect();
  for (const char* statement :
       {"CREATE DATABASE test", "USE test",
        "CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL, note VARCHAR(40), KEY by_balance "
        "(balance))",
        "CREATE TABLE ledger (id INT PRIMARY KEY, writer INT NOT NULL, note VARCHAR(60), KEY by_writer "
        "(writer))",
        "CREATE TABLE keyless (k INT, n INT, KEY by_n (n))",
        "CREATE TABLE fleeting (k INT, n INT, KEY by_n (n)) ENGINE=MEMORY",
        "CREATE TABLE named (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, body VARCHAR(100), UNIQUE KEY "
        "(name))",
        "CREATE TABLE bulky (id INT PRIMARY KEY, n INT, body TEXT, KEY by_n (n))",
        "CREATE TABLE large (id INT PRIMARY KEY AUTO_INCREMENT, writer INT, body TEXT)"}) {
    execute(server, *session, statement);
  }
  for (int id = 0; id < kAccounts; ++id)
    execute(server, *session, fmt::format("INSERT INTO account VALUES ({}, {}, 'new')", id, kBalance));
  if (!problems.empty()) throw std::runtime_error(problems.front());
  if (auto flushed = server.engine().checkpoint(); !flushed.ok())
    throw std::runtime_error(flushed.error().message);
}

void CrashWorkload::change_definitions(BareServer& server) {
  const auto session = server.connect();
  execute(server, *session, "USE test");
  for (int round = 0; writers_left_ > 0; ++round) {
    const std::string name = "made" + std::to_string(round);
    for (const std::string& statement :
         {"CREATE TABLE " + name + " (id INT PRIMARY KEY AUTO_INCREMENT, v INT, w VARCHAR(20))",
          "INSERT INTO " + name + " (v, w) VALUES (1, 'a'), (2, 'b'), (3, 'c')",
          "ALTER TABLE " + name + " ADD COLUMN z INT NOT NULL DEFAULT 7",
          "CREATE INDEX by_w ON " + name + " (w)",
          "INSERT INTO " + name + " (v, w) VALUES (4, 'd'), (5, 'e')",
          std::string(round % 3 == 0   ? "TRUNCATE TABLE "
                      : round % 3 == 1 ? "DROP TABLE "
                                       : "DELETE FROM ") +
              name}) {
      execute(server, *session, statement);
      note(server, -1);
    }
    const int behind = committed_;  // lets the writers on before the next round
    while (writers_left_ > 0 && committed_ < behind + 12)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

// Flushes of the engine, new log files, and old ones removed.
void CrashWorkload::administrate(BareServer& server) {
  const auto session = server.connect();
  for (int round = 0; writers_left_ > 0; ++round) {
    if (round % 2 == 0 && !server.engine().checkpoint().ok()) complain("the engine cannot be flushed");
    if (round % 3 == 1) execute(server, *session, "FLUSH BINARY LOGS");
    if (round % 3 == 2) {
      const uint32_t flushed = server.engine().flushed_position().file;
      if (flushed > 1 && !run_blocking(server.pipeline().purge_to(flushed)).ok())
        complain("the log cannot be purged");
    }
    const int behind = committed_;
    while (writers_left_ > 0 && committed_ < behind + 10)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

void CrashWorkload::run_everybody(BareServer& server) {
  writers_left_ = shape_.writers;
  std::vector<std::thread> clients;
  for (int number = 1; number <= shape_.writers; ++number) {
    clients.emplace_back([this, &server, number] { Writer(*this, server, number).run(); });
  }
  clients.emplace_back([this, &server] { change_definitions(server); });
  clients.emplace_back([this, &server] { administrate(server); });
  for (auto& client : clients) client.join();
  final_digest = digest_of(server.engine());
}

void CrashWorkload::run(const Shape& shape) {
  shape_ = shape;
  files.appends_survive_in_order(std::string(kEngineDirectory));
  prepare();
  files.start_recording();
  BareServer server(files, shape.wrap);
  server.xa = shape.xa;
  server.order_commits = shape.order_commits;
  server.log_bin = shape.log_bin;
  if (auto started = server.start(); !started.ok()) throw std::runtime_error(started.error().message);
  files.lie_about_sync(shape.lie_about_sync);
  files.lie_about_directory_syncs(shape.lie_about_directory_syncs);
  run_everybody(server);
  std::sort(promises.begin(), promises.end(),
            [](const Promise& a, const Promise& b) { return a.step < b.step; });
}

}  // namespace commitd::server::testing
