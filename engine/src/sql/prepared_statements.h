// The statements that one session has prepared: by number for the protocol, by name for PREPARE and EXECUTE.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <absl/container/flat_hash_map.h>

#include "base/result.h"
#include "sql/arena.h"
#include "sql/ast/session_statements.h"
#include "sql/executor/statement_runner.h"
#include "sql/lexer/lexer.h"
#include "sql/plan_cache/cached_select.h"
#include "sql/session_state.h"

namespace commitd::sql {

// A statement that is parsed once and executed often; its text and its tree live here.
struct PreparedStatement {
  PreparedStatement();
  ~PreparedStatement();
  PreparedStatement(const PreparedStatement&) = delete;

  CachedSelect* cached_select() const;

  std::string text;
  Arena arena;
  const ast::Statement* statement = nullptr;
  std::unique_ptr<CachedPlan> kept;
};

class PreparedStatements final : public PreparedStatementCommands {
 public:
  using Pointer = std::shared_ptr<PreparedStatement>;

  explicit PreparedStatements(SessionState& session) : session_(session) {}

  // Parsed and kept by nobody yet.
  Result<Pointer> parse(std::string_view sql) const;
  uint32_t add(Pointer prepared);  // its number
  Result<Pointer> find(uint32_t id) const;
  size_t parameter_count(uint32_t id) const;  // 0 also for an unknown one
  void close(uint32_t id) { by_id_.erase(id); }
  void clear();

  // `parameters` as they came; a plan that is kept has its own copy.
  Task<bool> run(PreparedStatement& prepared, std::span<const Value> parameters, ResultSink& sink,
                 bool more_results);

  Status prepare_by_name(const ast::PrepareStatement& statement) override;
  Status deallocate_by_name(std::string_view name) override;
  Task<bool> execute_by_name(const ast::ExecuteStatement& statement, ResultSink& sink,
                             bool more_results) override;

 private:
  const Value* user_variable(std::string_view name) const;

  SessionState& session_;
  absl::flat_hash_map<uint32_t, Pointer> by_id_;
  absl::flat_hash_map<std::string, Pointer> named_;
  uint32_t last_id_ = 0;
};

}  // namespace commitd::sql
