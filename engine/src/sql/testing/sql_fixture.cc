#include "sql/testing/sql_fixture.h"

#include <stdexcept>

#include <unistd.h>

#include "runtime/reactor.h"

namespace commitd::sql::testing {

void TextSink::start_result() {
  if (!first_result_) text += " ; ";
  first_result_ = false;
  first_row_ = true;
}

void TextSink::row(std::span<const Value> values) {
  if (!first_row_) text += "\n";
  first_row_ = false;
  for (size_t i = 0; i < values.size(); ++i) text += (i > 0 ? "|" : "") + values[i].to_text();
}

void TextSink::error(const Error& failed) {
  if (!in_rows_) start_result();  // else it ends the result that has begun
  text += "ERROR " + std::to_string(failed.code) + ": " + failed.message;
}

namespace {

std::filesystem::path directory_of_this_test() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  return std::filesystem::temp_directory_path() /
         ("sql-test-" + std::to_string(::getpid()) + "-" + test->name());
}

}  // namespace

SqlTest::SqlTest() : server_(directory_of_this_test()), session_(connect()) {
  if (const std::string made = run("CREATE DATABASE test; "); !made.empty()) throw std::runtime_error(made);
  run("USE test");
}

std::unique_ptr<Session> SqlTest::connect_to_test_database(std::string_view user) {
  auto session = connect(user);
  run(*session, "USE test");
  return session;
}

std::string SqlTest::run(Session& session, std::string_view sql) {
  last_ = TextSink();
  run_blocking(session.query(sql, last_));
  return last_.text;
}

}  // namespace commitd::sql::testing
