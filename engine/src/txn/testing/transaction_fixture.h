// For tests: transactions over a real storage engine, log and commit pipeline in a temporary directory.
#pragma once

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "commit/commit_pipeline.h"
#include "txn/lock_owner.h"
#include "txn/transaction.h"

namespace commitd::txn::testing {

// One client: its locks and its transaction.
struct Client {
  explicit Client(Services& services) : transaction(services, owner) {}
  LockOwner owner;
  Transaction transaction;
};

class TransactionTest : public ::testing::Test {
 protected:
  TransactionTest();
  ~TransactionTest() override;

  Services& services() { return *services_; }
  storage::Engine& engine() { return *engine_; }
  binlog::CommitSettings& settings() { return *settings_; }

 private:
  class NoApplier final : public binlog::EventApplier {
    Result<Outcome> build(std::string_view, How, WriteSet&) override {
      return Error{1, "nothing is applied from events here"};
    }
  };
  std::filesystem::path directory_;
  std::unique_ptr<storage::Engine> engine_;
  NoApplier applier_;
  const std::shared_ptr<binlog::CommitSettings> settings_ = std::make_shared<binlog::CommitSettings>();
  std::unique_ptr<binlog::CommitPipeline> pipeline_;
  LockManager locks_;
  std::unique_ptr<Services> services_;
};

// id INT primary key, name VARCHAR(20) utf8mb4_general_ci unique, age INT with an index, all but id nullable.
TablePtr people_table();
// word VARCHAR(20), count INT with an index; no primary key.
TablePtr words_table();

Row person(int id, const char* name, int age);
Row word(const char* text, int count);
Value text_value(const char* text);  // nullptr = NULL

Transaction::Options options_for(Isolation isolation);
void begin(Client& client, Isolation isolation = Isolation::RepeatableRead);

// "1:Ann:30 2:NULL:5": what a scan of an index finds, in its order.
std::string found(Client& client, const TablePtr& table, size_t index = 0, const IndexRange& range = {},
                  bool backwards = false);

}  // namespace commitd::txn::testing
