// Two databases with the same tables and rows: in one of them the tables have indexes, in the other none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "schema.h"
#include "sql/testing/sql_server.h"
#include "sql_text.h"

namespace commitd::fuzz {

struct Answer {
  std::vector<std::string> rows;  // as they came
  uint16_t error = 0;
  std::string message;

  bool ok() const { return error == 0; }
  std::vector<std::string> sorted() const;
  std::string shown() const;
};

class Database {
 public:
  Database(sql::testing::SqlServer& server, std::string name, bool with_indexes);

  bool has_indexes() const { return with_indexes_; }
  const std::string& name() const { return name_; }
  Answer run(const std::string& sql);
  // Prepared, and executed twice: the second time by the plan that was kept.
  std::vector<Answer> run_prepared(const SqlText& sql);
  // Since the database was made: what shows a finding to people.
  const std::string& history() const { return history_; }
  void start_anew();

 private:
  std::string name_;
  bool with_indexes_;
  std::unique_ptr<sql::Session> session_;
  std::string history_;
};

}  // namespace commitd::fuzz
