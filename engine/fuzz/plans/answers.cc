#include "answers.h"

#include <algorithm>

#include "runtime/reactor.h"
#include "sql/result_sink.h"

namespace commitd::fuzz {
namespace {

class Collector final : public sql::ResultSink {
 public:
  void begin_rows(std::span<const sql::ResultColumn>) override {}
  void row(std::span<const Value> values) override {
    std::string text;
    for (const Value& value : values) {
      if (!text.empty()) text += '|';
      text += value.is_null() ? "NULL" : "'" + value.to_text() + "'";
    }
    answer.rows.push_back(std::move(text));
  }
  bool wants_flush() const override { return false; }
  Task<Status> flush() override { co_return Status(); }
  void end_rows(const sql::OkInfo&) override {}
  void ok(const sql::OkInfo&) override {}
  void error(const Error& failed) override {
    answer.error = failed.code;
    answer.message = failed.message;
  }

  Answer answer;
};

}  // namespace

std::vector<std::string> Answer::sorted() const {
  std::vector<std::string> all = rows;
  std::ranges::sort(all);
  return all;
}

std::string Answer::shown() const {
  std::string text = std::to_string(rows.size()) + " rows";
  for (const std::string& row : rows) text += "\n    " + row;
  if (!ok()) text += "\n    ERROR " + std::to_string(error) + ": " + message;
  return text;
}

Database::Database(sql::testing::SqlServer& server, std::string name, bool with_indexes)
    : name_(std::move(name)), with_indexes_(with_indexes), session_(server.connect()) {
  start_anew();
}

void Database::start_anew() {
  history_.clear();
  run("SET sql_mode = 'NO_ENGINE_SUBSTITUTION', max_execution_time = 5000");
  run("DROP DATABASE IF EXISTS " + name_);
  run("CREATE DATABASE " + name_ + " CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci");
  run("USE " + name_);
}

Answer Database::run(const std::string& sql) {
  if (!sql.starts_with("SELECT")) history_ += sql + ";\n";
  Collector sink;
  run_blocking(session_->query(sql, sink));
  return std::move(sink.answer);
}

std::vector<Answer> Database::run_prepared(const SqlText& sql) {
  constexpr int kTimes = 2;
  std::vector<Answer> answers;
  auto prepared = run_blocking(session_->prepare(sql.with_placeholders()));
  if (!prepared.ok()) {
    answers.emplace_back().error = prepared.error().code;
    answers.back().message = prepared.error().message;
    return answers;
  }
  const std::vector<Value> parameters = sql.parameters();
  for (int i = 0; i < kTimes; ++i) {
    Collector sink;
    run_blocking(session_->execute(prepared->id, parameters, sink));
    answers.push_back(std::move(sink.answer));
  }
  session_->close_statement(prepared->id);
  return answers;
}

}  // namespace commitd::fuzz
