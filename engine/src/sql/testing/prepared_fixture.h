// Statements that are prepared and executed by their number, and whether their plans are used again.
#pragma once

#include <string>
#include <vector>

#include "observe/metrics.h"
#include "sql/testing/sql_fixture.h"

namespace commitd::sql::testing {

inline uint64_t reuses() {
  for (const auto& [name, value] : observe::snapshot()) {
    if (name == "commitd_plans_reused_total") return static_cast<uint64_t>(value);
  }
  return 0;
}

struct Statement {
  Session& session;
  uint32_t id = 0;
};

class PreparedTest : public SqlTest {
 protected:
  Statement prepare(std::string_view sql) { return prepare(session(), sql); }
  Statement prepare(Session& session, std::string_view sql) {
    auto prepared = run_blocking(session.prepare(sql));
    EXPECT_TRUE(prepared.ok()) << prepared.error().message;
    return {session, prepared->id};
  }
  std::string execute(const Statement& statement, const std::vector<Value>& parameters) {
    sink = TextSink();
    run_blocking(statement.session.execute(statement.id, parameters, sink));
    return sink.text;
  }
  std::string execute(const Statement& statement, int64_t parameter) {
    return execute(statement, std::vector<Value>(1, Value::integer(parameter)));
  }
  // Executed once more, it has the plan of before, or has not.
  bool reuses_plan(const Statement& statement, int64_t parameter) {
    const uint64_t before = reuses();
    execute(statement, parameter);
    return reuses() == before + 1;
  }

  TextSink sink;
};

}  // namespace commitd::sql::testing
