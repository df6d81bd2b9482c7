// What a statement costs, from its start to its end: for Slow_queries and the slow log.
#pragma once

#include <chrono>

#include "sql/ast/statement.h"
#include "sql/result_sink.h"
#include "sql/session_state.h"

namespace commitd::sql {

// Made when a statement starts; its end is the statement's.
class StatementMeter {
 public:
  StatementMeter(SessionState& session, const ast::Statement& statement, const ResultSink& sink);
  ~StatementMeter();
  StatementMeter(const StatementMeter&) = delete;
  // The statement is begun anew, and measured then.
  void withdraw() { withdrawn_ = true; }

 private:
  struct Counts {
    uint64_t rows_examined = 0, table_scans = 0;
    std::chrono::microseconds lock_time{0};
    uint64_t rows_sent = 0;
  };
  Counts counts() const;
  bool is_logged(std::chrono::microseconds duration, const Counts& spent) const;
  void write(SlowLog& log, std::chrono::microseconds duration, const Counts& spent) const;

  SessionState& session_;
  const ast::Statement& statement_;
  const ResultSink& sink_;
  std::chrono::steady_clock::time_point began_;
  Counts before_;
  bool withdrawn_ = false;
};

}  // namespace commitd::sql
