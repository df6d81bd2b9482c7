// For tests: a session over a server of its own (sql_server.h) in a temporary directory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "sql/testing/sql_server.h"

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

  // Runs a statement (or several) as root and gives its result as TextSink renders it.
  std::string run(std::string_view sql) { return run(*session_, sql); }
  std::string run(Session& session, std::string_view sql);
  std::unique_ptr<Session> connect(std::string_view user = "root") { return server_.connect(user); }
  std::unique_ptr<Session> connect_to_test_database(std::string_view user = "root");
  std::string value(const std::string& expression) { return run("SELECT " + expression); }

  Session& session() { return *session_; }
  ServerContext& server() { return server_.context(); }
  std::filesystem::path log_directory() const { return server_.log_directory(); }
  const TextSink& last() const { return last_; }

 private:
  SqlServer server_;
  std::unique_ptr<Session> session_;
  TextSink last_;
};

}  // namespace commitd::sql::testing
