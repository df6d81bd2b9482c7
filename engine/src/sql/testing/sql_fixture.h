// For tests: a session over a real storage engine, log, commit pipeline and catalog in a temporary directory.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "commit/commit_pipeline.h"
#include "sql/accounts/accounts.h"
#include "sql/process_list.h"
#include "sql/server_context.h"
#include "sql/session.h"
#include "sql/variables/system_variables.h"
#include "storage/engine_router.h"

namespace commitd::sql::testing {

// Renders results as text: "1|a\n2|NULL" for rows, "" for OK, "ERROR 1062: Duplicate entry …" for errors;
// several results are joined with " ; ".
class TextSink : public ResultSink {
 public:
  void begin_rows(std::span<const ResultColumn> described) override {
    start_result();
    columns.assign(described.begin(), described.end());
    in_rows_ = true;
  }
  void row(std::span<const Value> values) override;
  bool wants_flush() const override { return false; }
  Task<Status> flush() override { co_return Status(); }
  void end_rows(const OkInfo& info) override {
    last = info;
    in_rows_ = false;
  }
  void ok(const OkInfo& info) override {
    start_result();
    last = info;
  }
  void error(const Error& failed) override;

  std::string text;
  std::vector<ResultColumn> columns;
  OkInfo last;

 private:
  void start_result();
  bool first_result_ = true, first_row_ = true, in_rows_ = false;
};

class SqlTest : public ::testing::Test {
 protected:
  SqlTest();
  ~SqlTest() override;

  // Runs a statement (or several) as root and gives its result as TextSink renders it.
  std::string run(std::string_view sql) { return run(*session_, sql); }
  std::string run(Session& session, std::string_view sql);
  std::unique_ptr<Session> connect(std::string_view user = "root");
  std::unique_ptr<Session> connect_to_test_database(std::string_view user = "root");
  std::string value(const std::string& expression) { return run("SELECT " + expression); }

  Session& session() { return *session_; }
  ServerContext& server() { return server_; }
  const TextSink& last() const { return last_; }

 private:
  void initialize();

  class NoApplier final : public binlog::EventApplier {
    Result<Outcome> build(std::string_view, How, WriteSet&) override {
      return Error{1, "nothing is applied from events here"};
    }
  };
  std::filesystem::path directory_;
  std::unique_ptr<storage::EngineRouter> engine_;
  NoApplier applier_;
  std::unique_ptr<binlog::CommitPipeline> pipeline_;
  txn::LockManager locks_;
  std::unique_ptr<txn::Services> services_;
  std::unique_ptr<Catalog> catalog_;
  Accounts accounts_{std::nullopt};
  SystemVariables variables_;
  ProcessList processes_;
  ServerContext server_;
  uint32_t last_connection_ = 0;
  std::unique_ptr<Session> session_;
  TextSink last_;
};

}  // namespace commitd::sql::testing
