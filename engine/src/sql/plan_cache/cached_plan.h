// What a prepared statement keeps from one execution to the next: its names resolved, its access path chosen.
// It holds as long as nothing has changed that binding read: the table's definition, what the user may do,
// variables of the session, its database, the kinds of the parameters.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sql/ast/statement.h"
#include "sql/executor/statement_context.h"

namespace commitd::sql {

class CachedPlan {
 public:
  // nullptr: no statement whose plan is worth keeping, or depends on nothing but what is listed above.
  static std::unique_ptr<CachedPlan> of(const ast::Statement& statement);
  virtual ~CachedPlan() = default;
  CachedPlan(const CachedPlan&) = delete;

  // Before each execution, for which the caller's stay. False: with these the statement is to be bound for
  // this one execution.
  virtual bool take_parameters(std::span<const Value> parameters);
  // The plan refers to them.
  virtual std::span<const Value> parameters() const { return parameters_; }

  bool holds(const SessionState& session) const;
  // The catalog still shows the same table: to be asked under the table's lock, or behind the read of the
  // row.
  bool has_present_table(const SessionState& session) const;
  const TableDef& table() const { return *table_; }
  std::string_view lock_key() const { return lock_key_; }  // of the table
  // An execution did with what was kept.
  static void count_reuse();

 protected:
  // What a parameter's value means to binding.
  enum class Use : uint8_t { Any, Compared, Calculated };

  CachedPlan() = default;
  // `uses`: by number; those that it does not have are compared.
  explicit CachedPlan(std::vector<Use> uses) : uses_(std::move(uses)) {}
  void keep_basis(const SessionState& session, const Source& source);
  bool lasts() const { return basis_.lasts; }
  size_t size_of_parameters() const;
  // The kinds stay: the plan goes by them.
  void clear_texts();

 private:
  // What binding read; see keep_basis() and holds().
  struct Basis {
    uint64_t accounts = 0, sql_mode = 0;
    int32_t time_zone_offset = 0;
    uint16_t connection_collation = 0, client_collation = 0;
    std::string database;
    bool lasts = false;
  };

  bool is_usable(size_t number, const Value& value) const;
  bool same_kind(size_t number, const Value& value) const;
  Use use_of(size_t number) const { return number < uses_.size() ? uses_[number] : Use::Compared; }

  std::vector<Use> uses_;
  std::vector<Value> parameters_;
  TablePtr table_;
  std::string lock_key_;
  Basis basis_;
};

// Takes the lock of the plan's table. False: there is none that holds, and it is to be made anew.
Task<Result<bool>> enter_kept_table(StatementContext& context, const CachedPlan* kept, Privileges needed);

}  // namespace commitd::sql
