// SELECTs of literals alone. "SELECT 1" is what pools and proxies ask to see whether a server is there, often
// on a connection made for it: such texts are parsed, bound and evaluated once on each thread, and whichever
// session asks again is answered from that.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "sql/arena.h"
#include "sql/ast/select.h"
#include "sql/lexer/lexer.h"
#include "sql/plan_cache/cached_columns.h"
#include "sql/session_state.h"

namespace commitd::sql {

class ConstantSelect {
 public:
  // nullptr: the text is something else, or has more to say than one row.
  static std::unique_ptr<ConstantSelect> of(SessionState& session, std::string_view text,
                                            const LexerOptions& options);

  // The session would have made the same of this text.
  bool is_made_of(std::string_view text, const SessionSettings& settings) const;
  // As a statement, from its start to its end.
  void answer(SessionState& session, ResultSink& sink);

 private:
  // What parsing and binding read.
  struct Basis {
    uint64_t sql_mode = 0;
    uint16_t connection_collation = 0, client_collation = 0;
    bool operator==(const Basis&) const = default;
  };
  static Basis basis_of(const SessionSettings& settings);

  ConstantSelect(std::string_view text, const SessionSettings& settings)
      : text_(text), basis_(basis_of(settings)) {}
  bool evaluate(SessionState& session);

  std::string text_;
  Basis basis_;
  Arena arena_;
  const ast::SelectStatement* statement_ = nullptr;
  CachedColumns columns_;
  Row row_;
};

// Those of one thread: the last few that were new.
class ConstantSelects {
 public:
  static ConstantSelects& of_this_thread();

  // nullptr: it is not here, or the session has to wait before it may be told anything.
  ConstantSelect* find(SessionState& session, std::string_view text) const;
  // Nothing, if it is none.
  void keep(SessionState& session, std::string_view text, const ast::Statement& parsed,
            const LexerOptions& options);

 private:
  std::array<std::unique_ptr<ConstantSelect>, 8> kept_;
  size_t next_ = 0;
};

}  // namespace commitd::sql
