// replica_parallel_workers against one applier: random transactions of a source – unique keys that move, keys
// that are equal under their collation, NULLs, tables without a primary key and in memory, partial row
// images, definitions in between, transactions larger than memory – on replicas whose rows are not always
// what the source had. However the threads come to their turns, each state that the engine is ever in is that
// of a prefix of the log, and the same transactions cannot be applied, for the same reasons.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <thread>

#include <absl/hash/hash.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "base/testing/recording_file_system.h"
#include "binlog/transaction_scanner.h"
#include "observe/metrics.h"
#include "server/testing/bare_server.h"
#include "storage/record/key_codec.h"
#include "storage/testing/forwarding_engine.h"

namespace commitd::server {
namespace {

using namespace testing;
using commitd::testing::RecordingFileSystem;

#ifdef NDEBUG
constexpr int kTransactions = 1500;
#else
constexpr int kTransactions = 400;
#endif
constexpr const char* kSource = "11111111-2222-3333-4444-555555555555";
constexpr const char* kReplica = "22222222-2222-3333-4444-555555555555";

// What users see of the data: definitions, counters and rows.
uint64_t digest_of(storage::Engine& engine) {
  const auto key_of = [](uint32_t index) {
    std::string key;
    append_index_id(key, index);
    return key;
  };
  uint64_t digest = 0;
  for (const auto& [begin, end] : {std::pair(storage::kCatalogIndexId, storage::kCommitPointIndexId),
                                   std::pair(storage::kFirstUserIndexId, UINT32_MAX)}) {
    auto entries = engine.iterate(nullptr, key_of(begin), key_of(end));
    for (entries->seek(key_of(begin)); entries->valid(); entries->next())
      digest = absl::HashOf(digest, entries->key(), entries->value());
  }
  return digest;
}

struct Transaction {
  Gtid gtid;
  std::string events;
};

std::vector<Transaction> transactions_in(binlog::CommitPipeline& pipeline) {
  std::vector<Transaction> all;
  binlog::TransactionScanner scanner;
  std::string events;
  LogPosition at = {pipeline.log().files()->front().number, 4};
  for (const LogPosition end = pipeline.durable_end(); at < end;) {
    const auto chunk = pipeline.log().read(at, end, 64 << 20);
    if (!chunk.ok() || chunk->bytes.empty()) break;
    at = chunk->start;
    for (std::string_view rest = chunk->bytes; !rest.empty();) {
      const auto event = binlog::parse_event(rest);
      const auto place = scanner.feed(*event, at.offset);
      EXPECT_TRUE(place.ok());
      at.offset += event->bytes.size();
      rest.remove_prefix(event->bytes.size());
      if (*place == binlog::TransactionScanner::Place::First) events.clear();
      events += event->bytes;
      if (*place == binlog::TransactionScanner::Place::Last)
        all.push_back({scanner.transaction().gtid, events});
    }
  }
  return all;
}

// Statements of a source. Few values, so that much meets; many statements fail there, and leave nothing.
class Statements {
 public:
  explicit Statements(unsigned seed) : random_(seed) {}

  static std::vector<std::string> definitions() {
    return {
        "CREATE DATABASE d",
        "CREATE TABLE d.p (id INT PRIMARY KEY, u VARCHAR(20) COLLATE utf8mb4_0900_ai_ci, n INT, w LONGTEXT, "
        "UNIQUE KEY by_u (u), UNIQUE KEY by_n (n), KEY by_w (w(5)))",
        "CREATE TABLE d.c (name VARCHAR(10) COLLATE utf8mb4_0900_ai_ci PRIMARY KEY, v INT)",
        "CREATE TABLE d.a (id INT AUTO_INCREMENT PRIMARY KEY, v INT, KEY (v))",
        "CREATE TABLE d.h (v INT, t VARCHAR(10))",
        "CREATE TABLE d.hu (v INT, u VARCHAR(10) COLLATE utf8mb4_0900_ai_ci, UNIQUE KEY (u))",
        "CREATE TABLE d.m (id INT PRIMARY KEY, v INT) ENGINE=MEMORY",
        // Enough that it is not all the same rows.
        "CREATE TABLE d.wide (id INT PRIMARY KEY, k INT, c CHAR(20), KEY (k))"};
  }
  std::vector<std::string> next() {
    if (chance(60)) return {definition()};
    const bool partial = chance(12);
    std::vector<std::string> all = {partial ? "SET binlog_row_image = MINIMAL"
                                            : "SET binlog_row_image = FULL"};
    const int count = number(1, 4);
    if (count == 1) return all.push_back(change()), all;
    all.emplace_back("BEGIN");
    for (int i = 0; i < count; ++i) all.push_back(change());
    all.emplace_back("COMMIT");
    return all;
  }
  // What somebody does on a replica that he should not.
  std::string damage() {
    switch (number(0, 3)) {
      case 0:
        return fmt::format("DELETE FROM d.p WHERE id = {}", id());
      case 1:
        return fmt::format("INSERT INTO d.wide VALUES ({}, 0, 'here')", wide());
      case 2:
        return "DELETE FROM d.h LIMIT 1";
      default:
        return fmt::format("UPDATE d.p SET n = {} WHERE id = {}", n(), id());
    }
  }
  bool chance(int in) { return number(1, in) == 1; }
  int number(int from, int to) { return std::uniform_int_distribution(from, to)(random_); }

 private:
  int id() { return number(1, 25); }
  int wide() { return number(1, 4000); }
  std::string n() { return chance(5) ? "NULL" : std::to_string(number(1, 40)); }
  std::string word() {
    static constexpr const char* kWords[] = {"'a'", "'A'", "'á'",    "'b'", "'B '", "'ß'", "'ss'", "'c'",
                                             "'Ç'", "'d'", "'e\\''", "''",  "'f'",  "'g'", "'H'",  "NULL"};
    return kWords[number(0, std::size(kWords) - 1)];
  }
  std::string text() { return chance(25) ? "REPEAT('x', 6000)" : fmt::format("'w{}'", number(1, 9)); }

  std::string change() {
    switch (number(0, 26)) {
      case 0:
        return fmt::format("INSERT INTO d.p VALUES ({}, {}, {}, {})", id(), word(), n(), text());
      case 1:
        return fmt::format("UPDATE d.p SET u = {}, n = {} WHERE id = {}", word(), n(), id());
      case 2:
        return fmt::format("UPDATE d.p SET id = {} WHERE id = {}", id(), id());
      case 3:
        return fmt::format("DELETE FROM d.p WHERE id IN ({}, {})", id(), id());
      case 4:
        return fmt::format("REPLACE INTO d.p VALUES ({}, {}, {}, {})", id(), word(), n(), text());
      case 5:
        return fmt::format("REPLACE INTO d.c VALUES ({}, {})", chance(2) ? "'k'" : "'K'", number(1, 99));
      case 6:
        return fmt::format("DELETE FROM d.c WHERE name = {}", word());
      case 7:
        return fmt::format("INSERT INTO d.a (v) VALUES ({}), ({})", number(1, 9), number(1, 9));
      case 8:
        return fmt::format("UPDATE d.a SET v = v + 1 WHERE id % 7 = {}", number(0, 6));
      case 9:
        return fmt::format("INSERT INTO d.h VALUES ({}, {})", number(1, 5), word());
      case 10:
        return fmt::format("UPDATE d.h SET v = {} WHERE v = {} LIMIT 2", number(1, 5), number(1, 5));
      case 11:
        return fmt::format("DELETE FROM d.h WHERE v = {} LIMIT 1", number(1, 5));
      case 12:
        return fmt::format("REPLACE INTO d.hu VALUES ({}, {})", number(1, 5), word());
      case 13:
        return fmt::format("UPDATE d.hu SET u = {} WHERE v = {} LIMIT 1", word(), number(1, 5));
      case 14:
        return fmt::format("REPLACE INTO d.m VALUES ({}, {})", number(1, 5), number(1, 99));
      case 15:
        return fmt::format("UPDATE d.wide SET k = k + 1 WHERE id BETWEEN {0} AND {0} + 9", wide());
      case 16:
        return fmt::format("DELETE FROM d.wide WHERE id = {}", wide());
      default:
        return fmt::format("REPLACE INTO d.wide VALUES ({}, {}, 'new')", wide(), number(1, 99));
    }
  }
  std::string definition() {
    switch (number(0, 5)) {
      case 0:
        return fmt::format("ALTER TABLE d.p ADD COLUMN x{} INT DEFAULT 7", ++added_);
      case 1:
        return fmt::format("CREATE INDEX i{} ON d.wide (c)", ++added_);
      case 2:
        return "TRUNCATE TABLE d.hu";
      case 3:
        return "DROP TABLE IF EXISTS d.gone";
      case 4:
        return "CREATE TABLE IF NOT EXISTS d.gone (id INT PRIMARY KEY)";
      default:
        return "ALTER TABLE d.h ENGINE=InnoDB";
    }
  }

  std::mt19937 random_;
  int added_ = 0;
};

// Every state that a replica is ever in, by how many transactions it has; readers come to their turns in any
// order.
class WatchedEngine final : public storage::testing::ForwardingEngine {
 public:
  using Look = std::function<void(uint64_t executed, uint64_t digest)>;
  WatchedEngine(std::unique_ptr<storage::Engine> inner, bool delays, Look look)
      : ForwardingEngine(std::move(inner)), delays_(delays), look_(std::move(look)) {}

  Result<bool> get(const storage::Snapshot* snapshot, std::string_view key, std::string& value) override {
    delay();
    auto found = inner().get(snapshot, key, value);
    delay();
    return found;
  }
  Status commit_ordered(std::span<WriteSet* const> transactions, const storage::CommitStep& step) override {
    Status done = inner().commit_ordered(transactions, step);
    if (done.ok()) look_(inner().commit_point().executed.count(), digest_of(inner()));
    return done;
  }

 private:
  void delay() const {
    thread_local std::minstd_rand random(std::random_device{}());
    if (!delays_) return;
    const auto chosen = random() % 64;
    if (chosen < 4) std::this_thread::yield();
    if (chosen == 4) std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
  }
  const bool delays_;
  const Look look_;
};

struct Refused {
  uint64_t gno = 0;
  uint16_t code = 0;
  bool operator==(const Refused&) const = default;
};
void PrintTo(const Refused& refused, std::ostream* out) {
  *out << refused.gno << ": " << refused.code;
}

class Replica {
 public:
  Replica(uint64_t workers, WatchedEngine::Look look) : workers_(workers), look_(std::move(look)) {
    open();
    EXPECT_TRUE(server_->create().ok());
    start();
  }

  // They arrive, and are acknowledged together.
  void take(std::span<const Transaction> transactions) {
    receive(transactions);
    server_->pipeline().acknowledge(server_->pipeline().durable_end());
    apply();
  }
  // A start finds them in the log.
  void take_at_a_start(std::span<const Transaction> transactions) {
    receive(transactions);
    open();
    start();
    apply();
  }

  BareServer& server() { return *server_; }
  const std::vector<Refused>& refused() const { return refused_; }

 private:
  void open() {
    server_.reset();
    server_ = std::make_unique<BareServer>(disk_, [this](std::unique_ptr<storage::Engine> engine) {
      return std::make_unique<WatchedEngine>(std::move(engine), workers_ != 0, look_);
    });
    server_->server_uuid = kReplica;
    server_->parallel_workers = workers_;
    server_->max_file_size = 1 << 20;
  }
  void start() {
    const Status started = server_->start();
    ASSERT_TRUE(started.ok()) << started.error().message;
    server_->pipeline().set_gate(binlog::CommitPipeline::Gate::Gated);
  }
  void receive(std::span<const Transaction> transactions) {
    std::atomic<size_t> durable{0};
    for (const Transaction& transaction : transactions)
      server_->pipeline().append_received(transaction.events, transaction.gtid,
                                          [&](LogPosition) { ++durable; });
    while (durable < transactions.size()) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  // One that cannot be applied is left out, as an operator does it.
  void apply() {
    binlog::CommitPipeline& pipeline = server_->pipeline();
    while (pipeline.unapplied_transactions() != 0) {
      if (const auto error = pipeline.apply_error()) {
        const uint64_t gno = pipeline.gtid_executed().count() + 1;
        ASSERT_TRUE(pipeline.skip_unappliable({*Uuid::parse(kSource), gno}).ok()) << error->message;
        refused_.push_back({gno, error->code});
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  const uint64_t workers_;
  const WatchedEngine::Look look_;
  RecordingFileSystem disk_;
  std::unique_ptr<BareServer> server_;
  std::vector<Refused> refused_;
};

class ParallelApply : public ::testing::TestWithParam<unsigned> {
 protected:
  ParallelApply() : statements_(GetParam()) {
    spdlog::set_level(spdlog::level::off);
    BareServer& source = source_;
    source.max_file_size = 1 << 20;
    EXPECT_TRUE(source.create().ok());
    EXPECT_TRUE(source.start().ok());
    for (const auto& sql : Statements::definitions()) EXPECT_EQ(source.run(sql), "");
    for (int i = 0; i < kTransactions; ++i) {
      for (const auto& sql : statements_.next()) source.run(sql);
    }
    transactions_ = transactions_in(source.pipeline());
  }

  RecordingFileSystem disk_;
  BareServer source_{disk_};
  Statements statements_;
  std::vector<Transaction> transactions_;
};

std::string content_of(BareServer& server) {
  std::string all;
  for (const char* table : {"p", "c", "a", "h", "hu", "wide"}) {
    for (const char* statement : {"SELECT * FROM d.{} ORDER BY 1, 2", "CHECK TABLE d.{}"})
      all += server.run(fmt::format(fmt::runtime(statement), table)) + "\n";
  }
  return all;
}

uint64_t used_ahead() {
  return observe::counter("commitd_replica_ahead_transactions_total", "").value();
}

TEST_P(ParallelApply, IsWhatOneApplierDoes) {
  // Where somebody changes the replica's own rows.
  std::map<size_t, std::string> damages;
  for (int i = 0; i < 12; ++i)
    damages[statements_.number(100, static_cast<int>(transactions_.size()) - 1)] = statements_.damage();
  const auto damage = [](Replica& replica, const std::string& sql) {
    replica.server().run("SET sql_log_bin = 0");
    replica.server().run(sql);
  };

  std::map<uint64_t, std::set<uint64_t>> states;
  Replica single(0, [&states](uint64_t executed, uint64_t digest) { states[executed].insert(digest); });
  for (size_t i = 0; i < transactions_.size(); ++i) {
    if (damages.contains(i)) damage(single, damages[i]);
    single.take(std::span(transactions_).subspan(i, 1));
  }
  ASSERT_FALSE(single.refused().empty()) << "no damage was noticed";

  const uint64_t used_before = used_ahead();
  std::atomic<uint64_t> strange{0};
  const uint64_t workers = GetParam() % 3 == 0 ? 1 : 4;
  Replica parallel(workers, [&](uint64_t executed, uint64_t digest) {
    const auto found = states.find(executed);
    if (found != states.end() && found->second.contains(digest)) return;
    uint64_t none = 0;
    strange.compare_exchange_strong(none, executed);
  });
  for (size_t begin = 0; begin < transactions_.size();) {
    if (damages.contains(begin)) damage(parallel, damages[begin]);
    size_t end = std::min(transactions_.size(), begin + static_cast<size_t>(statements_.number(1, 400)));
    if (const auto next = damages.upper_bound(begin); next != damages.end()) end = std::min(end, next->first);
    const auto some = std::span(transactions_).subspan(begin, end - begin);
    if (statements_.chance(6)) {
      parallel.take_at_a_start(some);
    } else {
      parallel.take(some);
    }
    begin = end;
    ASSERT_EQ(strange, 0u) << "a state that is none of the log's, behind so many transactions";
  }
  EXPECT_EQ(parallel.refused(), single.refused());
  const std::string content = content_of(parallel.server());
  EXPECT_EQ(content, content_of(single.server()));
  EXPECT_EQ(content.find("rror"), std::string::npos) << content;
  EXPECT_GT(used_ahead(), used_before);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ParallelApply, ::testing::Values(1, 2, 3, 4, 5, 6));

}  // namespace
}  // namespace commitd::server
