// For tests of statements that run beside each other on one reactor.
#pragma once

#include <string>
#include <utility>

#include "runtime/reactor.h"
#include "sql/testing/sql_fixture.h"

namespace commitd::sql::testing {

// One statement that goes on while others run.
struct Started {
  TextSink sink;
  bool done = false;
};

inline Task<void> run_started(Session& session, std::string sql, Started& started) {
  co_await session.query(sql, started.sink);
  started.done = true;
}

inline void start(Session& session, std::string sql, Started& started) {
  Reactor::current()->spawn(run_started(session, std::move(sql), started));
}

inline Task<std::string> ask(Session& session, std::string sql) {
  TextSink sink;
  co_await session.query(sql, sink);
  co_return sink.text;
}

}  // namespace commitd::sql::testing
